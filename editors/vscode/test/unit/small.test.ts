import assert from 'node:assert/strict';
import test from 'node:test';
import { count, dollars, duration } from '../../src/format';
import { t, useTranslation } from '../../src/l10n';
import { endNotice, leftNotice, raised } from '../../src/notices';
import { Restarts } from '../../src/restarts';
import { isTooOld, versionIn } from '../../src/version';
import type { End, LoopStatus } from '../../src/wire';

test('numbers and times are short', () => {
  assert.deepEqual([0, 0.004, 1.425, 12].map(dollars), ['$0.00', '$0.0040', '$1.43', '$12.00']);
  assert.deepEqual([-5, 45_000, 725_000, 3_720_000].map(duration), ['0s', '45s', '12m 05s', '1h 02m']);
  assert.deepEqual([999, 1000, 999_949, 1_200_000].map(count), ['999', '1.0k', '999.9k', '1.20M']);
});

test('a release is compared, a build from a checkout is not', () => {
  const tooOld: Record<string, boolean> = { '0.0.9': true, 'v0.0.1': true, '0.1.0': false, '0.1.1': false, '1.0.0': false, devel: false, 'fb86de8-dirty': false, 'v0.0.0-20260102150405-abcdef': false };
  for (const [version, want] of Object.entries(tooOld)) assert.equal(isTooOld(version), want, version);
  assert.equal(versionIn('ralph-lsp 1.2.3 (go1.26, linux/amd64)\n'), '1.2.3');
  assert.equal(versionIn('hello'), undefined);
});

test('five crashes within three minutes are enough', () => {
  const r = new Restarts();
  assert.deepEqual([0, 1, 2, 3, 4].map((at) => r.crashed(at)), [200, 400, 800, 1600, undefined]);
  const rare = new Restarts();
  assert.deepEqual([0, 1, 2, 3, 4].map((at) => rare.crashed(at * 180_000)), [200, 200, 200, 200, 200]);
});

const end: End = { sessionUpdate: '_ralph/end', stopReason: 'promise', promise: 'DONE', iterations: 7, costUsd: 3.1, durationMs: 725_000 };
const loop: LoopStatus = { loopId: 'a', folder: 'file:///w/app', state: 'interrupted', text: 'interrupted at 4/50', iteration: 4, maxIterations: 50, owned: false };

test('a notice says how a loop ended, and offers what fits', () => {
  assert.equal(endNotice(end, loop)?.message, 'Ralph done: DONE (app) · 7 iterations · $3.10 · 12m 05s');
  const actions = (stopReason: End['stopReason']) => endNotice({ ...end, stopReason }, loop)?.actions.map((a) => a.id);
  assert.deepEqual(actions('promise'), ['output', 'changes']);
  assert.deepEqual(actions('max_cost'), ['output', 'raise']);
  assert.deepEqual(actions('backend_error'), ['output', 'doctor']);
  assert.deepEqual(actions('bad_state_file'), ['output', 'state']);
  assert.equal(actions('cancelled'), undefined);
  for (const reason of ['failures', 'stalled', 'permission_denied'] as const) assert.equal(actions(reason), undefined, 'its state tells it');
});

test('a loop that was left behind can go on or go', () => {
  assert.deepEqual(leftNotice(loop).actions.map((a) => a.title), ['Later', 'Resume', 'Discard']);
  assert.deepEqual([leftNotice(loop).severity, leftNotice(loop).message], ['warning', 'A Ralph loop in app: interrupted at 4/50']);
  const failed = leftNotice({ ...loop, state: 'failed', text: 'failed at 4/50: so', error: '500' });
  assert.deepEqual([failed.severity, failed.message], ['error', 'A Ralph loop in app: failed at 4/50: so · 500']);
});

test('the limit that was reached is doubled', () => {
  assert.deepEqual(raised({ ...end, stopReason: 'max_iterations' }, loop), { maxIterations: 100 });
  assert.deepEqual(raised({ ...end, stopReason: 'max_iterations' }, { ...loop, maxIterations: 7 }), { maxIterations: 14 });
  assert.deepEqual(raised({ ...end, stopReason: 'max_iterations' }, { ...loop, maxIterations: 2 }), { maxIterations: 8 }, 'an update had lowered it');
  assert.deepEqual(raised({ ...end, stopReason: 'max_iterations' }, undefined), { maxIterations: 14 }, 'a status that is not known');
  assert.deepEqual(raised({ ...end, stopReason: 'max_cost' }, { ...loop, cost: { amount: 5.2, limit: 5, currency: 'USD', estimated: false } }), { maxCostUsd: 10 });
  assert.deepEqual(raised({ ...end, stopReason: 'max_cost' }, { ...loop, cost: { amount: 25, limit: 10, currency: 'USD', estimated: false } }), { maxCostUsd: 40 }, 'until there is room');
  assert.deepEqual(raised({ ...end, stopReason: 'max_time' }, { ...loop, time: { spentMs: 60_001, limitMs: 60_000 } }), { maxDurationMs: 120_000 });
});

test('the button says what the limit will be, and stands behind one that changes nothing', () => {
  const title = (stopReason: End['stopReason'], l: Partial<LoopStatus>) => {
    const actions = endNotice({ ...end, stopReason }, { ...loop, ...l })?.actions;
    assert.equal(actions?.[0]?.title, 'Show Output');
    return actions?.[1]?.title;
  };
  assert.equal(title('max_iterations', {}), 'Raise to 100 iterations and Go On');
  assert.equal(title('max_cost', { cost: { amount: 5.2, limit: 5, currency: 'USD', estimated: false } }), 'Raise to $10.00 and Go On');
  assert.equal(title('max_time', { time: { spentMs: 1, limitMs: 3_600_000 } }), 'Raise to 2h 00m and Go On');
});

test('texts can be translated', (ctx) => {
  const plain = (message: string, ...args: (string | number)[]) => message.replace(/\{(\d+)\}/g, (_, n) => String(args[Number(n)] ?? ''));
  ctx.after(() => useTranslation(plain));
  assert.equal(t('{0} of {1}', 1, 2), '1 of 2');
  useTranslation((message) => message.toUpperCase());
  assert.equal(t('done'), 'DONE');
});
