import assert from 'node:assert/strict';
import test from 'node:test';
import { firstOwn, Runs } from '../../src/runs';
import type { Update } from '../../src/wire';

const state: Update = { sessionUpdate: '_ralph/state', state: 'running' };
const end: Update = { sessionUpdate: '_ralph/end', stopReason: 'max_iterations' };

test('a run begins where the numbers do, after an end, and with another server', () => {
  const runs = new Runs();
  const begins = (seq: number, ...updates: Update[]) => runs.begins({ loopId: 'a', seq, updates });
  assert.deepEqual([begins(1, state), begins(2, state), begins(9, state), begins(1, state)], [true, false, false, true], 'the numbers');
  assert.deepEqual([begins(2, end), begins(40, state), begins(41, state)], [false, true, false], 'an end');
  runs.forget();
  assert.equal(begins(99, state), true, 'another server');
});

test('the runs of two loops are their own', () => {
  const runs = new Runs();
  const begins = (loopId: string, seq: number) => runs.begins({ loopId, seq, updates: [state] });
  assert.deepEqual([begins('a', 5), begins('b', 1), begins('a', 6), begins('b', 2)], [true, true, false, false]);
});

test('what a session has of the run is not what was before it', () => {
  const begin = (iteration: number): Update => ({ sessionUpdate: '_ralph/iteration', phase: 'begin', iteration });
  const first = (session: number[], run: number[]) => firstOwn(session.map(begin), [state, ...run.map(begin)]);
  assert.equal(first([1, 2, 3], [3]), 2);
  assert.equal(first([1, 2, 2, 3], [2, 3]), 2, 'one that was interrupted');
  assert.equal(first([1, 2, 2, 2], [2, 2]), 2, 'and was tried again');
  assert.equal(first([], [1]), 0, 'no session');
  assert.equal(first([1, 2], [3]), 2, 'the run is ahead of the session, or nothing of it could be written');
  assert.equal(first([1, 2], [3, 4]), 2, 'by more than one');
  assert.equal(first([1, 2, 4], [3, 4]), 2, 'only its first begin could not be written');
  assert.equal(first([1, 2], [2, 2]), 2, 'whose 2 this is cannot be told');
});

test('all of a session that ends in mid-iteration is before a run that it lacks', () => {
  const begin = (iteration: number): Update => ({ sessionUpdate: '_ralph/iteration', phase: 'begin', iteration });
  const said: Update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'hello' } };
  assert.equal(firstOwn([begin(1), said, end], [begin(2), said]), 3);
  assert.equal(firstOwn([begin(1), said, end, begin(2)], [begin(2), said]), 3, 'and it has it later');
});
