// Lays the extension out as it is packaged: bundles, manifest with the server's
// settings, notices, and the server where one is given. Tests run the same.
//
//   node scripts/stage.mjs --out DIR [--server FILE] [--licences FILE] [--components FILE]
//
// --licences is a file with the licences of what is in the server, --components
// is written: the packages that were bundled, for an SBOM.
import { build } from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const repository = path.dirname(path.dirname(here));
const { values } = parseArgs({ options: { out: { type: 'string' }, server: { type: 'string' }, licences: { type: 'string' }, components: { type: 'string' } } });
if (!values.out) throw new Error('--out DIR is missing');
const out = path.resolve(values.out);
fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(path.join(out, 'dist'), { recursive: true });

const common = { bundle: true, minify: true, absWorkingDir: here, metafile: true, logLevel: 'warning', legalComments: 'none' };
// Dynamic imports become require: Node.js would look for them as modules of its own kind.
const host = { ...common, platform: 'node', format: 'cjs', target: 'node20', supported: { 'dynamic-import': false } };
const started = 'const CODERAG_STARTED=((u=process.threadCpuUsage?.())=>({wall:performance.now(),cpu:u?(u.user+u.system)/1000:NaN}))();';
const bundles = await Promise.all([
  build({ ...host, entryPoints: ['src/main.ts'], outfile: path.join(out, 'dist/main.js'), external: ['vscode', './client'], banner: { js: started } }),
  // The language client is loaded once the extension is active.
  build({ ...host, entryPoints: ['src/client.ts'], outfile: path.join(out, 'dist/client.js'), external: ['vscode'] }),
  build({ ...common, entryPoints: ['src/webview/index.ts'], outfile: path.join(out, 'dist/webview.js'), platform: 'browser', format: 'iife', target: 'es2022' }),
]);

// The settings are the server's own table: they cannot differ from it.
const manifest = JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8'));
manifest.contributes.configuration.push(...settingGroups(JSON.parse(fs.readFileSync(path.join(here, 'settings.generated.json'), 'utf8'))));
delete manifest.scripts;
delete manifest.devDependencies;
delete manifest.private;
fs.writeFileSync(path.join(out, 'package.json'), JSON.stringify(manifest, null, 2) + '\n');

fs.cpSync(path.join(here, 'docs'), path.join(out, 'docs'), { recursive: true });
fs.cpSync(path.join(here, 'media'), path.join(out, 'media'), { recursive: true });
for (const file of ['README.md', 'CHANGELOG.md']) fs.copyFileSync(path.join(here, file), path.join(out, file));
fs.copyFileSync(path.join(repository, 'LICENSE'), path.join(out, 'LICENSE'));
const packages = bundled(bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs)));
fs.writeFileSync(path.join(out, 'NOTICE'), notices(packages));
fs.writeFileSync(path.join(out, '.vscodeignore'), ''); // all of it is packaged
if (values.licences) fs.copyFileSync(values.licences, path.join(out, 'THIRD_PARTY_LICENSES.txt'));
if (values.components) fs.writeFileSync(values.components, JSON.stringify(packages.map(({ name, version, license }) => ({ name, version, license }))));
if (values.server) {
  const file = path.join(out, 'server', path.basename(values.server));
  fs.mkdirSync(path.dirname(file));
  fs.copyFileSync(values.server, file);
  fs.chmodSync(file, 0o755);
}

/** One group of settings for each first word, as the settings editor shows them. */
function settingGroups(properties) {
  const groups = new Map();
  for (const [key, property] of Object.entries(properties)) {
    const word = key.split('.')[1];
    if (!groups.has(word)) groups.set(word, { title: word[0].toUpperCase() + word.slice(1), order: groups.size + 1, properties: {} });
    groups.get(word).properties[key] = property;
  }
  return [...groups.values()];
}

/** The packages that bundled files are from. */
function bundled(inputs) {
  const folders = new Set(inputs.map((input) => /^(?:.*node_modules\/)((?:@[^/]+\/)?[^/]+)/.exec(input)?.[0]).filter(Boolean));
  return [...folders].sort().map((folder) => {
    const dir = path.join(here, folder);
    return { dir, ...JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8')) };
  });
}

/** The licences of what was bundled, after the project's own notice. */
function notices(packages) {
  const parts = [fs.readFileSync(path.join(repository, 'NOTICE'), 'utf8').trimEnd(), 'The extension holds parts of these packages:'];
  for (const { dir, name, version, license } of packages) {
    const file = fs.readdirSync(dir).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} ${version} carries no licence`);
    parts.push(`${name} ${version} (${license})\n\n${fs.readFileSync(path.join(dir, file), 'utf8').trim()}`);
  }
  return parts.join('\n\n' + '-'.repeat(72) + '\n\n') + '\n';
}
