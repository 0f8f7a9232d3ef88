// Bundles the unit tests and runs them with node's own runner: no editor is needed.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const tests = fs.readdirSync(`${root}test/unit`).filter((f) => f.endsWith('.test.ts'));
if (tests.length === 0) throw new Error('there are no unit tests');
const outdir = `${root}out/unit`;
fs.rmSync(outdir, { recursive: true, force: true });
await build({
  absWorkingDir: root, entryPoints: tests.map((f) => `test/unit/${f}`), outdir, outExtension: { '.js': '.mjs' },
  bundle: true, format: 'esm', platform: 'node', target: 'node20', sourcemap: 'inline', logLevel: 'warning',
  define: { ROOT: JSON.stringify(root) },
});
const files = tests.map((f) => `${outdir}/${f.replace(/\.ts$/, '.mjs')}`);
const run = spawnSync(process.execPath, ['--test', '--test-reporter=dot', '--enable-source-maps', ...files], { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
if (run.status !== 0 || process.env.VERBOSE) process.stdout.write(run.stdout);
process.exit(run.status ?? 1);
