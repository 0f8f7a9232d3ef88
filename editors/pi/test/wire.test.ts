import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { version } from '../src/wire.ts';

const names = JSON.parse(fs.readFileSync(new URL('../../../testdata/wire/names.json', import.meta.url), 'utf8')) as
  { version: number; updates: string[]; methods: string[] };

test('the sidecar speaks the version of the extension', () => assert.equal(version, names.version));

test('the sidecar says what the extension hears', () => {
  const source = ['feed', 'ralph'].map((file) => fs.readFileSync(new URL(`../src/${file}.ts`, import.meta.url), 'utf8')).join('');
  const heard = [...source.matchAll(/'((?:_ralph|ralph)\/\w+)'/g)].map((found) => found[1]);
  assert.ok(heard.length >= 6, `${heard}`);
  for (const name of heard) assert.ok([...names.updates, ...names.methods].includes(name ?? ''), name);
});
