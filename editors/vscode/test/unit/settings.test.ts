import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

import { parseJsonc } from '../../src/jsonc';
import { Restarts } from '../../src/restarts';
import { explicit, serverSettings } from '../../src/settings';
import { bytes, stateText } from '../../src/text';

const root = process.env['CODERAG_EXTENSION']!;
const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { contributes: { configuration: { properties: Record<string, { scope?: string }> }[]; commands: { command: string }[]; menus: Record<string, { command?: string }[]>; keybindings: { command: string }[] } };
const generated = JSON.parse(fs.readFileSync(path.join(root, 'settings.generated.json'), 'utf8')) as Record<string, { scope: string }>;

test('the server is told its own settings only, by scope', () => {
  const all = structuredClone(manifest);
  all.contributes.configuration.push({ properties: generated });
  const settings = serverSettings(all);
  assert.deepEqual([...settings.machine, ...settings.window].sort(), Object.keys(generated).map((key) => key.slice('coderag.'.length)).sort());
  assert.ok(settings.machine.includes('embed.libraryPath') && settings.window.includes('lsp.hover'));
});

test('no setting of the extension has the name of one of the server', () => {
  for (const group of manifest.contributes.configuration) for (const key of Object.keys(group.properties)) assert.ok(!(key in generated), key);
});

test('only what was set is sent, and a folder has no say in what is the machine’s', () => {
  const values: Record<string, { globalValue?: unknown; workspaceValue?: unknown; workspaceFolderValue?: unknown }> = {
    'lsp.hover': { globalValue: true, workspaceValue: false },
    'search.topK': { globalValue: 30 },
    'embed.libraryPath': { workspaceValue: '/evil.so' },
    'log.file': { globalValue: '/tmp/log', workspaceValue: '/evil' },
  };
  const inspect = (name: string): (typeof values)[string] | undefined => values[name];
  assert.deepEqual(explicit(['lsp.hover', 'search.topK', 'index.exclude'], inspect, 'window'), { lsp: { hover: false }, search: { topK: 30 } });
  assert.deepEqual(explicit(['embed.libraryPath', 'log.file'], inspect, 'machine'), { log: { file: '/tmp/log' } });
});

test('what runs programs or says where text goes is no folder’s business', () => {
  const own = Object.assign({}, ...manifest.contributes.configuration.map(({ properties }) => properties)) as Record<string, { scope?: string }>;
  for (const key of Object.keys(own)) if (key !== 'coderag.trace.server') assert.equal(own[key]?.scope, 'machine', key);
});

test('menus and keys name commands that there are', () => {
  const known = new Set(manifest.contributes.commands.map(({ command }) => command));
  const used = [...Object.values(manifest.contributes.menus).flat(), ...manifest.contributes.keybindings].flatMap(({ command }) => command ?? []);
  for (const command of used) assert.ok(known.has(command), command);
});

test('restarts are bounded within the window', () => {
  const restarts = new Restarts(2, 1000);
  assert.deepEqual([0, 10, 20, 1005, 1006].map((now) => restarts.another(now)), [true, true, false, true, false]);
  });

test('themes are read with comments, trailing commas and a mark', () => {
  assert.deepEqual(parseJsonc('\uFEFF{ // a\n "x": "http://a,]", /* b */ "y": [1, 2,], }'), { x: 'http://a,]', y: [1, 2] });
});

test('states and sizes in words', () => {
  assert.equal(stateText('failed', undefined).problem, true);
  assert.equal(stateText('starting', undefined).busy, true);
  assert.deepEqual([0, 1023, 1024, 66337904, 5 * 2 ** 30].map(bytes), ['0 B', '1023 B', '1.0 KiB', '63 MiB', '5.0 GiB']);
});
