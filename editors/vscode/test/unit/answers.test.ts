// What the next loop is started with.
import assert from 'node:assert/strict';
import test from 'node:test';
import { answersAfter } from '../../src/answers';

const known = { folder: 'file:///w/app', backend: 'claude', completionPromise: 'DONE', maxIterations: 7, maxCostUsd: 0 };

test('the next loop goes by the promise, the agent and the limits of the one before', () => {
  assert.deepEqual(answersAfter({}, undefined, known), { backend: 'claude', completionPromise: 'DONE', maxIterations: 7, maxCostUsd: 0 });
});

test('it asks as the one before did, where that was said at its start, and has the limits as they became', () => {
  const started = { loopId: 'ralph-1', folder: 'file:///w/app', prompt: 'x', permissions: 'ask', sandbox: 'workspace', verify: 'make test', backend: 'pi', limitsText: '3', plan: 'PLAN.md', task: 't1', trust: true } as const;
  assert.deepEqual(answersAfter({}, started, known), {
    permissions: 'ask', sandbox: 'workspace', verify: 'make test', backend: 'pi', completionPromise: 'DONE', maxIterations: 7, maxCostUsd: 0,
  });
  assert.deepEqual(answersAfter({}, started), { permissions: 'ask', sandbox: 'workspace', verify: 'make test', backend: 'pi', limitsText: '3' }, 'nobody knows how they became');
});

test('what was chosen for it wins, without what was taken back', () => {
  assert.deepEqual(answersAfter({ backend: 'pi', limitsText: '2' }, { verify: 'make' }, known), { backend: 'pi', limitsText: '2' });
});
