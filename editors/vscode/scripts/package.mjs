// Packages a staged extension as a .vsix and checks the size of its bundles.
//
//   node scripts/package.mjs STAGE TARGET FILE
import { createVSIX } from '@vscode/vsce';
import fs from 'node:fs';
import path from 'node:path';

const [stage, target, file] = process.argv.slice(2);
if (!stage || !target || !file) throw new Error('usage: package.mjs STAGE TARGET FILE');
/** The most bytes of the extension without the server. */
const most = 1_000_000;
const dist = path.join(stage, 'dist');
const size = fs.readdirSync(dist).reduce((sum, name) => sum + fs.statSync(path.join(dist, name)).size, 0);
if (size > most) throw new Error(`the bundles are ${size} bytes, more than ${most}`);
fs.mkdirSync(path.dirname(file), { recursive: true });
await createVSIX({ cwd: stage, packagePath: path.resolve(file), target, dependencies: false, allowMissingRepository: true, skipLicense: false, rewriteRelativeLinks: false });
console.log(`${file}: ${(fs.statSync(file).size / 2 ** 20).toFixed(1)} MiB, bundles ${Math.round(size / 1000)} kB`);
