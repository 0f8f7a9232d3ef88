import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

/** The extension's files as npm installs them, with what else is there. */
async function installed(files: Record<string, string>): Promise<{ dir: string; find: (env: NodeJS.ProcessEnv) => string }> {
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'ralph-pi-')));
  for (const name of ['sidecar', 'rpc', 'feed', 'wire']) {
    fs.copyFileSync(new URL(`../src/${name}.ts`, import.meta.url), path.join(dir, `${name}.ts`));
  }
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), text, { mode: 0o755 });
  }
  const { findProgram } = await import(pathToFileURL(path.join(dir, 'sidecar.ts')).href) as typeof import('../src/sidecar.ts');
  return { dir, find: findProgram };
}

const dependency = { 'node_modules/ralph-lsp/index.js': `module.exports = require('path').join(__dirname, 'program')`, 'node_modules/ralph-lsp/program': '' };

test('the program that npm installed with the extension is found', async () => {
  const { dir, find } = await installed(dependency);
  assert.equal(find({ PATH: '' }), path.join(dir, 'node_modules/ralph-lsp/program'));
});

test('one on PATH comes before it', async () => {
  const { dir, find } = await installed({ ...dependency, 'bin/ralph-lsp': '' });
  assert.equal(find({ PATH: path.join(dir, 'bin') }), path.join(dir, 'bin/ralph-lsp'));
});

test('without any, the advice is for those who have no checkout, too', async () => {
  const { find } = await installed({});
  assert.throws(() => find({ PATH: '' }), /was not found: install it with "npm install -g ralph-lsp" or "make build" in its checkout/);
});
