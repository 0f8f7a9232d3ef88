import assert from 'node:assert/strict';
import test from 'node:test';
import { changeable, changes, questions } from '../../src/questions';
import type { Limits } from '../../src/wire';

const limits = { maxIterations: 50, completionPromise: 'DONE', maxCostUsd: 0.125, maxDurationMs: 20_000, idleTimeoutMs: 0, maxConsecutiveFailures: 5 };
const time = (maxDurationMs: number) => changeable({ maxDurationMs }).find((q) => q.key === 'maxDurationMs')!;

test('an unchanged answer changes nothing', () => {
  for (const q of [...questions({ limits }), ...changeable(limits), ...changeable({})]) {
    assert.deepEqual(changes(q, q.value), {}, q.prompt);
    assert.deepEqual(changes(q, ` ${q.value} `), {}, q.prompt);
    assert.equal(q.check?.(q.value), undefined, q.prompt);
  }
});

test('a changed answer is read', () => {
  const answers: Limits[] = changeable(limits).map((q) => changes(q, { maxIterations: '9', maxCostUsd: '', maxDurationMs: '1.5', completionPromise: 'OK' }[q.key as string] ?? ''));
  assert.deepEqual(answers, [{ maxIterations: 9 }, { maxCostUsd: 0 }, { maxDurationMs: 90_000 }, { completionPromise: 'OK' }]);
  assert.deepEqual(changes(questions({ limits })[0]!, ''), { completionPromise: '' }, 'a start without a promise');
});

test('a time is shown in minutes, as 0 only without a limit', () => {
  const shown: [number, string][] = [[0, '0'], [1, '0.000017'], [200, '0.0033'], [20_000, '0.33'], [90_000, '1.5'], [14_400_000, '240'], [999_999_999 * 60_000, '999999999']];
  for (const [ms, want] of shown) assert.equal(time(ms).value, want);
  for (const [ms] of shown) assert.equal(time(ms).check?.(time(ms).value), undefined, String(ms));
});

test('only 0 minutes are unlimited', () => {
  const read = (answer: string) => changes(time(60_000), answer).maxDurationMs;
  assert.deepEqual(['0', '0.5', '1.1', '0.000000001', '240'].map(read), [0, 30_000, 66_000, 1, 14_400_000]);
  for (const bad of ['', '-1', '1e3', '1,5', 'soon', '1.']) assert.equal(time(0).check?.(bad), 'a number of minutes, please', bad);
});
