// Bundles the extension into dist/extension.js, with the schema of ralph.toml beside it.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const common = { absWorkingDir: root, bundle: true, minify: true, logLevel: 'warning' };
await build({
  ...common,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  external: ['vscode'],
});
// The page of a transcript; VS Code 1.95 has Chromium 128.
await build({ ...common, entryPoints: { transcript: 'webview/main.ts' }, outdir: 'dist', format: 'iife', platform: 'browser', target: 'chrome122' });
await build({ ...common, entryPoints: { transcript: 'webview/page.css' }, outdir: 'dist', target: 'chrome122' });
fs.copyFileSync(`${root}../../docs/ralph.schema.json`, `${root}dist/ralph.schema.json`);
