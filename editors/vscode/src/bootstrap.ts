import { execFile, type ExecFileException } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';

/** Where a server was looked for: the user's setting, the extension, the PATH. */
export type Origin = 'setting' | 'bundled' | 'path';

export interface Server { path: string; origin: Origin; version: string }

/** Why no server can be started. */
export type Problem = 'notFound' | 'notExecutable' | 'wrongPlatform' | 'failed' | 'notCoderag';

/** No server can be started; the message is the user's, and names what to do. */
export class BootstrapError extends Error {
  constructor(readonly problem: Problem, message: string, readonly detail = '') {
    super(message);
    this.name = 'BootstrapError';
  }
}

export interface Places {
  /** The setting coderag.server.path. */
  setting: string;
  /** The extension's folder. */
  extension: string;
  /** The PATH variable. */
  path: string;
  platform: NodeJS.Platform;
  arch: string;
}

/** A program that does not answer in this time (ms) is given up. */
const versionTimeout = 30_000;

export function executableName(platform: NodeJS.Platform): string {
  return platform === 'win32' ? 'coderag-ls.exe' : 'coderag-ls';
}

/** Finds the server (setting, then bundled, then PATH) and checks that it runs here. */
export async function findServer(places: Places): Promise<Server> {
  const found = await locate(places);
  if (!found) {
    throw new BootstrapError('notFound',
      'coderag-ls was not found: this package carries none, and none is on the PATH. Install it, or name it in the setting coderag.server.path.');
  }
  return { ...found, version: await checkVersion(found.path, found.origin, places) };
}

async function locate(places: Places): Promise<{ path: string; origin: Origin } | undefined> {
  const setting = places.setting.trim();
  if (setting !== '') {
    const file = expandHome(setting);
    if (!path.isAbsolute(file)) {
      throw new BootstrapError('notFound', `The setting coderag.server.path must be an absolute path, but is “${setting}”.`);
    }
    if (!(await isFile(file))) {
      throw new BootstrapError('notFound', `There is no program at ${file}, which the setting coderag.server.path names.`);
    }
    return { path: file, origin: 'setting' };
  }
  const name = executableName(places.platform);
  const bundled = path.join(places.extension, 'server', name);
  if (await isFile(bundled)) return { path: bundled, origin: 'bundled' };
  for (const dir of places.path.split(path.delimiter)) {
    // A relative entry would name a program of the folder that is open.
    if (path.isAbsolute(dir) && (await isFile(path.join(dir, name)))) return { path: path.join(dir, name), origin: 'path' };
  }
  return undefined;
}

function expandHome(file: string): string {
  return file === '~' || file.startsWith('~/') || file.startsWith('~\\') ? path.join(os.homedir(), file.slice(1)) : file;
}

async function isFile(file: string): Promise<boolean> {
  return fs.stat(file).then((stat) => stat.isFile(), () => false);
}

const where: Record<Origin, string> = {
  setting: 'which the setting coderag.server.path names',
  bundled: 'which comes with the extension',
  path: 'found on the PATH',
};

const elfMachines: Partial<Record<string, number>> = { x64: 0x3e, arm64: 0xb7, arm: 0x28, ia32: 0x03 };

/** Reports whether a program is one of another system. The system itself may take such a file for a script. */
async function isForeign(file: string, platform: NodeJS.Platform, arch: string): Promise<boolean> {
  const head = Buffer.alloc(20);
  const handle = await fs.open(file, 'r').catch(() => undefined); // one that cannot be read may still be run
  if (!handle) return false;
  try {
    await handle.read(head, 0, head.length, 0);
  } finally {
    await handle.close();
  }
  const magic = head.readUInt32BE(0);
  const elf = magic === 0x7f454c46;
  const windows = head.toString('latin1', 0, 2) === 'MZ';
  const mac = magic === 0xcafebabe || magic === 0xcffaedfe || magic === 0xfeedfacf;
  if (platform === 'win32') return elf || mac;
  if (platform === 'darwin') return elf || windows;
  const machine = elfMachines[arch];
  return windows || mac || (elf && machine !== undefined && head.readUInt16LE(18) !== machine);
}

async function checkVersion(file: string, origin: Origin, places: Places): Promise<string> {
  const foreign = new BootstrapError('wrongPlatform',
    `${file}, ${where[origin]}, does not run on ${places.platform}-${places.arch}: it was made for another system. Install the package for this one.`);
  if (await isForeign(file, places.platform, places.arch)) throw foreign;
  const says = await new Promise<{ output: string; error?: ExecFileException; stderr: string }>((resolve) => {
    execFile(file, ['version'], { timeout: versionTimeout, windowsHide: true, cwd: os.homedir() }, (error, stdout, stderr) =>
      resolve({ output: stdout.trim(), error: error ?? undefined, stderr: stderr.trim() }));
  });
  const error = says.error;
  const detail = says.stderr || says.output || error?.message || '';
  if (error?.code === 'EACCES') {
    throw new BootstrapError('notExecutable', `${file}, ${where[origin]}, may not be run. Make it executable (chmod +x).`, detail);
  }
  if (error && (error.code === 'ENOEXEC' || error.code === 'UNKNOWN' || error.code === 'ENOENT' || /exec format|not a valid Win32/i.test(detail))) {
    throw foreign;
  }
  if (error) {
    const what = error.killed ? `did not answer within ${versionTimeout / 1000} s` : 'failed';
    throw new BootstrapError('failed', `${file}, ${where[origin]}, ${what} when asked for its version.`, detail);
  }
  const match = /^coderag-ls\s+(\S+)/.exec(says.output);
  if (!match?.[1]) {
    throw new BootstrapError('notCoderag', `${file}, ${where[origin]}, is not coderag-ls: it answered “${says.output.slice(0, 80)}”.`, detail);
  }
  return match[1];
}
