import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { folderName } from '../../src/loopText';
import { bar, tooltip, type Model } from '../../src/statusText';
import type { LoopStatus } from '../../src/wire';

declare const ROOT: string;
const running: LoopStatus = {
  loopId: 'a', folder: 'file:///w/my%20app', state: 'running', iteration: 3, maxIterations: 50, owned: true,
  startedAt: '2026-01-02T10:00:00Z', cost: { amount: 1.42, currency: 'USD', estimated: false },
};
const now = Date.parse('2026-01-02T12:00:00Z');
const hour = 3_600_000;
const model = (loops: LoopStatus[], more: Partial<Model> = {}): Model => ({
  server: { state: 'running' }, loops, activity: new Map(), quiet: new Set(), seen: new Set(), pausing: new Set(), iterationCosts: new Map(), ...more,
});

const bars: { name: string; loops: LoopStatus[]; more?: Partial<Model>; text: string; colour?: string; idle?: boolean }[] = [
  { name: 'no loop', loops: [], text: '$(circle-outline) Ralph idle', idle: true },
  { name: 'running', loops: [running], text: '$(sync~spin) Ralph 3/50 $1.42' },
  { name: 'unlimited, cost unknown', loops: [{ ...running, maxIterations: undefined, cost: undefined }], text: '$(sync~spin) Ralph 3' },
  { name: 'cost in part unknown', loops: [{ ...running, cost: { ...running.cost!, estimated: true } }], text: '$(sync~spin) Ralph 3/50 ~$1.42' },
  { name: '80 % of the iterations', loops: [{ ...running, iteration: 41 }], text: '$(sync~spin) Ralph 41/50 $1.42', colour: 'warning' },
  { name: 'just under 80 %', loops: [{ ...running, iteration: 40 }], text: '$(sync~spin) Ralph 40/50 $1.42' },
  { name: '80 % of the money', loops: [{ ...running, cost: { amount: 8, currency: 'USD', limit: 10, estimated: false } }], text: '$(sync~spin) Ralph 3/50 $8.00', colour: 'warning' },
  { name: '80 % of the time', loops: [{ ...running, time: { spentMs: 3 * hour, limitMs: 5 * hour }, iterationStartedAt: '2026-01-02T11:00:00Z' }], text: '$(sync~spin) Ralph 3/50 $1.42', colour: 'warning' },
  { name: 'just under 80 % of the time', loops: [{ ...running, time: { spentMs: 3 * hour, limitMs: 5 * hour }, iterationStartedAt: '2026-01-02T11:00:01Z' }], text: '$(sync~spin) Ralph 3/50 $1.42' },
  { name: 'a pause takes no time', loops: [{ ...running, state: 'paused', time: { spentMs: 3 * hour, limitMs: 5 * hour }, iterationStartedAt: '2026-01-02T01:00:00Z' }], text: '$(debug-pause) Ralph 3/50 $1.42 paused' },
  { name: 'no limit of time', loops: [{ ...running, time: { spentMs: 300 * hour } }], text: '$(sync~spin) Ralph 3/50 $1.42' },
  { name: 'quiet', loops: [running], more: { quiet: new Set(['a']) }, text: '$(sync~spin) Ralph 3/50 $1.42 quiet', colour: 'warning' },
  { name: 'pausing', loops: [running], more: { pausing: new Set(['a']) }, text: '$(sync~spin) Ralph 3/50 $1.42 pausing' },
  { name: 'waiting', loops: [{ ...running, state: 'waiting', retry: { reason: 'pacing', text: 'pacing short runs' } }], text: '$(watch) Ralph 3/50 $1.42 waiting (pacing short runs)', colour: 'warning' },
  { name: 'paused', loops: [{ ...running, state: 'paused' }], text: '$(debug-pause) Ralph 3/50 $1.42 paused' },
  { name: 'interrupted', loops: [{ ...running, state: 'interrupted', owned: false, text: 'interrupted at 3/50' }], text: '$(debug-disconnect) Ralph interrupted at 3/50', colour: 'warning' },
  { name: 'failed and left', loops: [{ ...running, state: 'failed', stopReason: 'failures', owned: false, text: 'failed at 3/50: so' }], text: '$(error) Ralph failed at 3/50: so', colour: 'error' },
  { name: 'done', loops: [{ ...running, state: 'ended', stopReason: 'promise' }], text: '$(check) Ralph done $1.42' },
  { name: 'done, and seen', loops: [{ ...running, state: 'ended', stopReason: 'promise' }], more: { seen: new Set(['a']) }, text: '$(circle-outline) Ralph idle', idle: true },
  { name: 'capped', loops: [{ ...running, state: 'ended', stopReason: 'max_cost' }], text: '$(warning) Ralph stopped: cost limit reached $1.42', colour: 'warning' },
  { name: 'failed', loops: [{ ...running, state: 'ended', stopReason: 'failures' }], text: '$(error) Ralph failed: too many failures in a row $1.42', colour: 'error' },
  { name: 'two', loops: [running, { ...running, loopId: 'b' }], text: '$(sync~spin) Ralph 2 loops $2.84' },
  { name: 'server gone', loops: [], more: { server: { state: 'failed', reason: 'not found' } }, text: '$(error) Ralph server not running', colour: 'error' },
];
for (const { name, loops, more, text, colour, idle } of bars) {
  test(`the bar: ${name}`, () => {
    const b = bar(model(loops, more), now);
    assert.deepEqual({ text: b.text, colour: b.colour, idle: b.idle }, { text, colour: colour ?? 'none', idle: idle ?? false });
    assert.doesNotMatch(b.label, /\$\(/, 'a screen reader gets no icons');
  });
}

test('the bar says whatever a loop waits for', () => {
  const waits = JSON.parse(fs.readFileSync(path.join(ROOT, '../../testdata/wire/waits.json'), 'utf8')) as NonNullable<LoopStatus['retry']>[];
  assert.ok(waits.length >= 4);
  for (const retry of waits) {
    assert.match(bar(model([{ ...running, state: 'waiting', retry }]), now).text, new RegExp(`waiting \\(${retry.text}\\) until `));
  }
});

test('the tooltip has a table and links', () => {
  const loop: LoopStatus = { ...running, tool: { toolCallId: 't', name: 'bash', title: 'cat a|b', kind: 'execute', startedAt: '2026-01-02T10:01:00Z' }, tokens: { input: 1200, output: 30, cacheRead: 2_500_000, cacheWrite: 0 }, time: { spentMs: hour, limitMs: 4 * hour }, iterationStartedAt: '2026-01-02T10:01:00Z' };
  const text = tooltip(model([loop], { iterationCosts: new Map([['a', [{ iteration: 1, costUsd: 0.5 }, { iteration: 2 }]]]) }), Date.parse('2026-01-02T10:02:05Z'));
  for (const part of ['**Ralph** my app', '| State | running |', '| Elapsed | 2m 05s · this iteration 1m 05s |', '| Running | 1h 01m of 4h 00m |', '| Per iteration | 1: $0.50, 2: ? |', '1.2k in, 30 out, 2.50M cached', 'bash cat a\\|b · 1m 05s', '[Cancel](command:ralph.cancel?']) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
});

test('the tooltip says who drives a loop that is not ours, and never zero for an unknown cost', () => {
  const text = tooltip(model([{ ...running, owned: false, cost: undefined }]), 0);
  assert.match(text, /running \\\(another process\\\)/);
  assert.match(text, /\| Cost \| unknown \|/);
});

test('what an agent prints can not make links in the tooltip', () => {
  const text = tooltip(model([{ ...running, error: '[click](command:evil) <b>\nline' }]), 0);
  assert.doesNotMatch(text, /\[click\]\(/);
  assert.match(text, /\\\[click\\\]/);
});

test('each link of the tooltip names its loop', () => {
  const text = tooltip(model([running, { ...running, loopId: 'b', folder: 'file:///w/c%2B%2B%20(x)' }]), 0);
  const targets = [...text.matchAll(/\(command:ralph\.cancel\?([^)]*)\)/g)].map((m) => JSON.parse(decodeURIComponent(m[1] ?? '')));
  assert.deepEqual(targets, [[{ loopId: 'a', folder: 'file:///w/my%20app' }], [{ loopId: 'b', folder: 'file:///w/c%2B%2B%20(x)' }]]);
});

test('the tooltip says that a pause was asked for', () => {
  const text = tooltip(model([running], { pausing: new Set(['a']) }), 0);
  assert.match(text, /running \\\(pauses after this iteration\\\)/);
  assert.match(text, /\[Resume\]/);
  assert.doesNotMatch(text, /\[Pause\]/);
});

test('a folder whose name encodes nothing has a name', () => assert.equal(folderName('file:///w/100%'), '100%'));
