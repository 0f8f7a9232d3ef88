import assert from 'node:assert/strict';
import test from 'node:test';
import { withHost } from '../../src/agentHosts';
import { guidanceOf, type Remark } from '../../src/commentText';
import { t, useTranslation } from '../../src/l10n';
import { Restarts } from '../../src/restarts';

test('five crashes within three minutes are enough', () => {
  const r = new Restarts();
  assert.deepEqual([0, 1, 2, 3, 4].map((at) => r.crashed(at)), [200, 400, 800, 1600, undefined]);
  const rare = new Restarts();
  assert.deepEqual([0, 1, 2, 3, 4].map((at) => rare.crashed(at * 180_000)), [200, 200, 200, 200, 200]);
});

test('texts can be translated', (ctx) => {
  const plain = (message: string, ...args: (string | number)[]) => message.replace(/\{(\d+)\}/g, (_, n) => String(args[Number(n)] ?? ''));
  ctx.after(() => useTranslation(plain));
  assert.equal(t('{0} of {1}', 1, 2), '1 of 2');
  useTranslation((message) => message.toUpperCase());
  assert.equal(t('done'), 'DONE');
});

test('remarks are sent together, each with its place and the change that it is about', () => {
  const before = ['package a', '', 'func f() {', '\told()', '\tkeep()', '}', ''].join('\n');
  const after = ['package a', '', 'func f() {', '\tnew()', '\tnewer()', '\tkeep()', '}', ''].join('\n');
  const remark = (more: Partial<Remark>): Remark => ({ path: 'a.go', from: 4, to: 5, when: 'after iteration 2', text: ' Why twice? ', before, after, ...more });
  assert.equal(guidanceOf([remark({ path: 'b.md', from: 1, to: 1, before: undefined, after: 'one ``` two', text: 'No.', when: 'as it is now' }), remark({})], 'Remarks:'),
    'Remarks:\n\na.go:4-5 (after iteration 2)\n```diff\n-\told()\n+\tnew()\n+\tnewer()\n```\nWhy twice?\n\nb.md:1 (as it is now)\n````diff\n one ``` two\n````\nNo.');
  const long = Array.from({ length: 90 }, (_, i) => `${i}`).join('\n');
  assert.match(guidanceOf([remark({ from: 1, to: 90, before: undefined, after: long })], ''), / 39\n\.\.\.\n```/);
  assert.deepEqual(guidanceOf([remark({ from: 9, to: 9 }), remark({ from: 2, to: 2 })], '').match(/a\.go:\d/g), ['a.go:2', 'a.go:9'], 'in the order of the lines');
});

test('the list of agent hosts keeps those of others, and of windows that live', () => {
  const other = { name: 'Other', address: 'localhost:1', connectionToken: 'theirs' };
  const at = (port: number) => ({ name: 'Ralph loops', address: `127.0.0.1:${port}`, connectionToken: 'ours' });
  const dead = at(2), living = at(3), own = at(4);
  const lives = (address: string) => address !== dead.address;
  assert.deepEqual(withHost([dead, other, living], own, 'ours', lives), [other, living, own]);
  assert.deepEqual(withHost([other, living, own], own, 'ours', lives), [other, living, own]);
  assert.deepEqual(withHost([other, living, dead], undefined, 'ours', lives), [other, living]);
  assert.deepEqual(withHost(undefined, undefined, 'ours', lives), []);
});
