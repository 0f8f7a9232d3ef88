import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { LoopRecord } from '../../src/loopRecord';
import { elapsed } from '../../src/show';
import { bar, endOf, tooltip, type Model } from '../../src/statusText';
import type { LoopStatus, Update } from '../../src/wire';

declare const ROOT: string;
const running: LoopStatus = {
  loopId: 'a', folder: 'file:///w/my%20app', title: 'my app', state: 'running', owned: true, live: true, busy: true, class: 'info',
  text: '3/50 · $1.42', line: '3/50 · $1.42 · bash cat a|b', can: ['cancel', 'pause'], startedAt: '2026-01-02T10:00:00Z',
};
const paused: LoopStatus = { ...running, state: 'paused', busy: false, text: '3/50 · paused' };
const over = (kind: LoopStatus['class'], text: string): LoopStatus => ({ ...running, state: 'ended', live: false, busy: false, class: kind, text });
const model = (loops: LoopStatus[], more: Partial<Model> = {}): Model => ({
  server: { state: 'running' }, loops, records: new Map(), seen: new Set(), ...more,
});

const bars: { name: string; loops: LoopStatus[]; more?: Partial<Model>; text: string; kind?: string; idle?: boolean }[] = [
  { name: 'no loop', loops: [], text: '$(circle-outline) Ralph idle', idle: true },
  { name: 'running', loops: [running], text: '$(sync~spin) Ralph 3/50 · $1.42' },
  { name: 'silent', loops: [{ ...running, class: 'warning', text: '3/50 · $1.42 · silent since 14:05' }], text: '$(sync~spin) Ralph 3/50 · $1.42 · silent since 14:05', kind: 'warning' },
  { name: 'asking, with a command as the shell has it', loops: [{ ...paused, class: 'warning', text: 'asks: bash echo $(date)' }], text: '$(debug-pause) Ralph asks: bash echo \\$(date)', kind: 'warning' },
  { name: 'waiting', loops: [{ ...paused, class: 'warning', text: '3/50 · waiting', retry: {} }], text: '$(watch) Ralph 3/50 · waiting', kind: 'warning' },
  { name: 'paused', loops: [paused], text: '$(debug-pause) Ralph 3/50 · paused' },
  { name: 'done', loops: [over('ok', 'done · $1.42')], text: '$(check) Ralph done · $1.42' },
  { name: 'done, and seen', loops: [over('ok', 'done')], more: { seen: new Set([endOf(over('ok', 'done'))]) }, text: '$(circle-outline) Ralph idle', idle: true },
  { name: 'capped', loops: [over('warning', 'stopped')], text: '$(warning) Ralph stopped', kind: 'warning' },
  { name: 'failed', loops: [over('error', 'failed')], text: '$(error) Ralph failed', kind: 'error' },
  { name: 'cancelled', loops: [over('info', 'cancelled')], text: '$(circle-slash) Ralph cancelled' },
  { name: 'several: the first, by its name', loops: [over('error', 'failed'), { ...running, loopId: 'b' }], text: '$(error) Ralph my app: failed', kind: 'error' },
  {
    name: 'several, the first seen', loops: [over('error', 'failed'), { ...running, loopId: 'b', title: 'other' }], more: { seen: new Set([endOf(over('error', 'failed'))]) },
    text: '$(sync~spin) Ralph other: 3/50 · $1.42',
  },
  { name: 'server gone', loops: [], more: { server: { state: 'failed', reason: 'not found' } }, text: '$(error) Ralph server not running', kind: 'error' },
];
for (const { name, loops, more, text, kind, idle } of bars) {
  test(`the bar: ${name}`, () => {
    const b = bar(model(loops, more));
    assert.equal(b.text, text);
    assert.equal(['warning', 'error'].includes(b.class) ? b.class : undefined, kind);
    assert.equal(b.idle, idle ?? false);
    assert.doesNotMatch(b.label, /\$\((?!date\))/, 'a screen reader gets no icons');
  });
}

test('a clock goes as the server writes durations', () => {
  const { durations } = JSON.parse(fs.readFileSync(path.join(ROOT, '../../testdata/wire/words.json'), 'utf8'));
  assert.ok(durations.length > 10);
  for (const { value, text } of durations) assert.equal(elapsed(value), text);
});

test('the tooltip has a table and links', () => {
  const record = new LoopRecord('a');
  record.add([{ sessionUpdate: '_ralph/iteration', phase: 'end', iteration: 1, text: 'ok · $0.50', class: 'ok' } as Update, { sessionUpdate: '_ralph/iteration', phase: 'begin', iteration: 2 }]);
  const loop = { ...running, details: [{ label: 'Cost', text: '$1.42 of $10.00' }], iterationStartedAt: '2026-01-02T10:01:00Z', tool: { title: 'cat', startedAt: '2026-01-02T10:02:00Z' } } as LoopStatus;
  const text = tooltip(model([loop], { records: new Map([['a', record]]) }), Date.parse('2026-01-02T10:02:05.4Z'));
  for (const part of ['**Ralph** my app', '| Now | 3/50 · $1.42 · bash cat a\\|b |', '| Elapsed | 2m05s · this iteration 1m05s · this tool 5s |', '| Cost | $1.42 of $10.00 |', '| Iteration\u00a01 | ok · $0.50 |', '[Cancel](command:ralph.cancel?']) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
  assert.ok(!text.includes('Iteration 2'));
});

test('what an agent prints can not make links in the tooltip', () => {
  const text = tooltip(model([{ ...running, details: [{ label: 'Error', text: '[click](command:evil) <b>\nline' }] }]), 0);
  assert.doesNotMatch(text, /\[click\]\(/);
  assert.match(text, /\\\[click\\\]/);
});

test('each link of the tooltip names its loop', () => {
  const text = tooltip(model([running, { ...running, loopId: 'b', folder: 'file:///w/c%2B%2B%20(x)' }]), 0);
  const targets = [...text.matchAll(/\(command:ralph\.cancel\?([^)]*)\)/g)].map((m) => JSON.parse(decodeURIComponent(m[1] ?? '')));
  assert.deepEqual(targets, [[{ loopId: 'a', folder: 'file:///w/my%20app' }], [{ loopId: 'b', folder: 'file:///w/c%2B%2B%20(x)' }]]);
});
