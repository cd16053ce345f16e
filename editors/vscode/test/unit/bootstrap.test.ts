import assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

import { BootstrapError, findServer, type Places, type Problem } from '../../src/bootstrap';

let dir: string;
beforeEach(async () => (dir = await fs.mkdtemp(path.join(os.tmpdir(), 'coderag-bootstrap-'))));
afterEach(() => fs.rm(dir, { recursive: true, force: true }));

async function program(name: string, text: string, mode = 0o755): Promise<string> {
  const file = path.join(dir, name);
  await fs.mkdir(path.dirname(file), { recursive: true });
  await fs.writeFile(file, text);
  await fs.chmod(file, mode);
  return file;
}

const says = (text: string): string => `#!/bin/sh\necho "${text}"\n`;

function places(more: Partial<Places> = {}): Places {
  return { setting: '', extension: path.join(dir, 'extension'), path: '', platform: 'linux', arch: 'x64', ...more };
}

async function problem(p: Places, want: Problem, message: RegExp): Promise<void> {
  await assert.rejects(findServer(p), (error) => {
    assert.ok(error instanceof BootstrapError);
    assert.equal(error.problem, want);
    assert.match(error.message, message);
    return true;
  });
}

test('the setting wins over the bundled program, that over the PATH', async () => {
  const onPath = await program('bin/coderag-ls', says('coderag-ls 1.0.0'));
  const search = places({ path: path.dirname(onPath) });
  assert.deepEqual(await findServer(search), { path: onPath, origin: 'path', version: '1.0.0' });
  const bundled = await program('extension/server/coderag-ls', says('coderag-ls 2.0.0'));
  assert.deepEqual(await findServer(search), { path: bundled, origin: 'bundled', version: '2.0.0' });
  const named = await program('mine', says('coderag-ls 3.0.0'));
  assert.deepEqual(await findServer({ ...search, setting: named }), { path: named, origin: 'setting', version: '3.0.0' });
});

test('a relative entry of the PATH is not searched: it would name a file of the folder that is open', async () => {
  await program('bin/coderag-ls', says('coderag-ls 1.0.0'));
  const before = process.cwd();
  process.chdir(dir);
  try {
    await problem(places({ path: 'bin' }), 'notFound', /was not found/);
  } finally {
    process.chdir(before);
  }
});

test('what is wrong is told, with the file and what to do', async () => {
  await problem(places(), 'notFound', /Install it, or name it in the setting coderag\.server\.path/);
  await problem(places({ setting: '/nowhere/coderag-ls' }), 'notFound', /no program at \/nowhere\/coderag-ls/);
  await problem(places({ setting: 'coderag-ls' }), 'notFound', /absolute path/);
  await problem(places({ setting: await program('fails', '#!/bin/sh\necho broken >&2\nexit 3\n') }), 'failed', /fails, which the setting .* failed/);
  await problem(places({ setting: await program('other', says('hello 1.0')) }), 'notCoderag', /answered “hello 1\.0”/);
});

test('a program that may not be run is told apart', async () => {
  await problem(places({ setting: await program('plain', says('coderag-ls 1.0.0'), 0o644) }), 'notExecutable', /chmod \+x/);
});

test('a program of another system is told apart', async () => {
  // An ELF header of a machine that does not exist.
  const header = Buffer.alloc(64);
  header.write('\x7fELF\x02\x01\x01', 'latin1');
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(0xfeed, 18);
  header.writeUInt32LE(1, 20);
  const file = await program('foreign', '');
  await fs.writeFile(file, header);
  await problem(places({ setting: file }), 'wrongPlatform', /does not run on linux-x64/);
});
