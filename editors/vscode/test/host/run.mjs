// Runs the in-host tests: the editor starts the extension host, which loads
// suite.ts beside the extension. Prints a line for each case.
import { build } from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyRepository, Editor } from '../lib/editor.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const [stage, repository] = process.argv.slice(2);
if (!stage || !repository) throw new Error('usage: run.mjs STAGE REPOSITORY');
/** Milliseconds for one suite. */
const limit = Number(process.env.CODERAG_LIMIT ?? 600_000);
let failed = 0;
let passed = 0;

for (const suite of (process.env.SUITE ?? 'single multi').split(' ')) {
  const editor = new Editor(`host-${suite}`);
  const before = passed + failed;
  try {
    const tests = path.join(editor.dir, 'tests');
    await build({ entryPoints: [path.join(here, 'suite.ts')], outfile: path.join(tests, 'index.js'), bundle: true, platform: 'node', format: 'cjs', target: 'node20', external: ['vscode'], logLevel: 'warning' });
    fs.writeFileSync(path.join(tests, 'suite.json'), JSON.stringify({ suite, scratch: editor.dir, only: process.env.TEST ?? '' }));
    editor.installFolder(path.join(here, 'model'));
    copyRepository(repository, path.join(editor.workspace, 'cobra'));
    fs.cpSync(path.join(here, 'notes'), path.join(editor.workspace, 'notes'), { recursive: true });
    const workspace = path.join(editor.workspace, 'both.code-workspace');
    fs.writeFileSync(workspace, JSON.stringify({ folders: [{ path: 'cobra' }, { path: 'notes' }] }));
    editor.settings();
    await editor.start(['--enable-smoke-test-driver']);
    const page = await editor.browse();
    const exit = Promise.withResolvers();
    if (process.env.CODERAG_VERBOSE) {
      page.on('console', (message) => console.log('#', message.type(), message.text().slice(0, 300)));
      page.on('requestfailed', (request) => console.log('# failed', request.url(), request.failure()?.errorText));
    }
    await page.exposeFunction('codeAutomationLog', (type, args) => {
      for (const text of args) {
        if (typeof text !== 'string') continue;
        for (const line of text.split('\n')) {
          if (/^(ok|not ok) /.test(line)) {
            console.log(line);
            if (line.startsWith('ok')) passed++;
            else failed++;
          } else if (line.startsWith('# ') || process.env.CODERAG_VERBOSE) {
            console.log(line);
          }
        }
      }
    });
    await page.exposeFunction('codeAutomationExit', (code) => exit.resolve(code));
    const remote = (file) => `vscode-remote://${editor.address}${file}`;
    const payload = [['extensionDevelopmentPath', remote(path.resolve(stage))], ['extensionTestsPath', remote(path.join(tests, 'index.js'))], ['skipWelcome', 'true']];
    const open = suite === 'multi' ? `workspace=${encodeURIComponent(workspace)}` : `folder=${encodeURIComponent(path.join(editor.workspace, 'cobra'))}`;
    await page.goto(`http://${editor.address}/?${open}&payload=${encodeURIComponent(JSON.stringify(payload))}`, { waitUntil: 'commit', timeout: 120_000 });
    const timer = setTimeout(() => exit.resolve('time is over'), limit);
    const code = await exit.promise;
    clearTimeout(timer);
    if (code !== 0 || passed + failed === before) {
      console.log(`not ok - the suite ${suite} ended with: ${code}`);
      failed++;
      if (process.env.CODERAG_ARTIFACTS) await page.screenshot({ path: path.join(process.env.CODERAG_ARTIFACTS, `host-${suite}.png`) });
    }
  } finally {
    await editor.close();
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
