// Bundles each unit test and runs them all in plain Node.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const out = fs.mkdtempSync(path.join(os.tmpdir(), 'coderag-unit-'));
try {
  const tests = fs.readdirSync(path.join(here, 'test/unit')).filter((file) => file.endsWith('.test.ts'));
  await build({
    absWorkingDir: here, entryPoints: tests.map((file) => `test/unit/${file}`), outdir: out, outExtension: { '.js': '.mjs' },
    bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'warning', sourcemap: 'inline',
  });
  const run = spawnSync(process.execPath, ['--test', '--test-reporter=spec', ...tests.map((file) => path.join(out, file.replace(/\.ts$/, '.mjs')))],
    { stdio: 'inherit', cwd: here, env: { ...process.env, NODE_OPTIONS: '--enable-source-maps', CODERAG_EXTENSION: here } });
  process.exitCode = run.status ?? 1;
} finally {
  fs.rmSync(out, { recursive: true, force: true });
}
