// Bundles the unit tests and runs them with node's own runner: no editor is needed.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const tests = fs.readdirSync(`${root}test/unit`).filter((f) => f.endsWith('.test.ts'));
if (tests.length === 0) throw new Error('there are no unit tests');
const outfile = `${root}out/unit.mjs`;
await build({
  stdin: { contents: tests.map((f) => `import './test/unit/${f}';`).join('\n'), resolveDir: root }, absWorkingDir: root, outfile,
  bundle: true, format: 'esm', platform: 'node', target: 'node20', sourcemap: 'inline', logLevel: 'warning',
  define: { ROOT: JSON.stringify(root) },
});
const run = spawnSync(process.execPath, [`${root}../../tools/editors/vscode-quiet.mjs`, outfile], { stdio: 'inherit' });
process.exit(run.status ?? 1);
