import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { commands, version } from '../src/wire.ts';

const names = JSON.parse(fs.readFileSync(new URL('../../../testdata/wire/names.json', import.meta.url), 'utf8')) as
  { version: number; commands: string[]; updates: string[]; methods: string[] };

test('the sidecar has what the extension says', () => {
  assert.equal(version, names.version);
  for (const command of Object.values(commands)) assert.ok(names.commands.includes(command), command);
});

test('the sidecar says what the extension hears', () => {
  const source = ['feed', 'ralph'].map((file) => fs.readFileSync(new URL(`../src/${file}.ts`, import.meta.url), 'utf8')).join('');
  const heard = [...source.matchAll(/'((?:_ralph|ralph)\/\w+)'/g)].map((found) => found[1]);
  assert.ok(heard.length >= 6, `${heard}`);
  for (const name of heard) assert.ok([...names.updates, ...names.methods].includes(name ?? ''), name);
});
