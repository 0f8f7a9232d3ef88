import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Entry, Feed, type Page, toolLines } from '../src/feed.ts';
import type { Loop, Update } from '../src/wire.ts';

const loop = (loopId: string, owned: boolean): Loop => ({ loopId, folder: 'file:///w', state: 'running', class: 'info', live: true, busy: true, owned });
const ends = (iteration: number): Update => ({ sessionUpdate: '_ralph/iteration', phase: 'end', iteration, text: 'ok', class: 'ok' });

/** A feed with what it told, and a log that can be read. */
function listening(log: Record<string, Page> = {}) {
  const told: Entry[] = [], offers: string[] = [], read: string[] = [];
  const feed = new Feed({
    changed: () => {},
    tell: (entry) => told.push(entry),
    offered: (_, update) => offers.push(update.text ?? ''),
    read: async (loopId, after) => {
      read.push(`${loopId} ${after}`);
      return log[after] ?? { updates: [], cursor: after, more: false };
    },
  });
  return { feed, told, offers, read, texts: () => told.map((entry) => entry.text) };
}

test('what comes before the status waits for it', () => {
  const { feed, texts } = listening();
  feed.updates({ loopId: 'a', cursor: '1', updates: [ends(1)] });
  feed.updates({ loopId: 'a', after: '1', cursor: '2', updates: [ends(2)] });
  assert.deepEqual(texts(), []);
  feed.status({ message: '', loops: [loop('a', true)] });
  assert.deepEqual(texts(), ['iteration 1 · ok', 'iteration 2 · ok']);
});

test('a loop is over at its end, not only when the status says so', () => {
  const { feed } = listening();
  feed.status({ message: '', loops: [loop('a', true)] });
  feed.updates({ loopId: 'a', cursor: '1', updates: [ends(1)] });
  assert.equal(feed.loops[0]?.live, true);
  feed.updates({ loopId: 'a', after: '1', cursor: '2', updates: [{ sessionUpdate: '_ralph/end', text: 'done' }] });
  assert.equal(feed.loops[0]?.live, false);
});

test('what was missed is read from the log, once', async () => {
  const { feed, read, texts } = listening({ 1: { updates: [ends(2)], cursor: '2', more: true }, 2: { updates: [ends(3), ends(4)], cursor: '4', more: false } });
  feed.status({ message: '', loops: [loop('a', true)] });
  feed.updates({ loopId: 'a', cursor: '1', updates: [ends(1)] });
  feed.updates({ loopId: 'a', after: '3', cursor: '4', updates: [ends(4)] });
  await new Promise(setImmediate);
  assert.deepEqual(read, ['a 1', 'a 2']);
  assert.deepEqual(texts(), [1, 2, 3, 4].map((n) => `iteration ${n} · ok`));
});

test('of a loop that runs elsewhere nothing is told but shown', () => {
  const { feed, texts } = listening();
  feed.status({ message: '', loops: [loop('a', false)] });
  feed.updates({ loopId: 'a', cursor: '1', updates: [{ sessionUpdate: 'tool_call', toolCallId: 't', name: 'bash', title: 'make' }, ends(1)] });
  assert.deepEqual(texts(), []);
  assert.deepEqual(toolLines(feed.activity('a')), ['● bash make']);
});

test('of a loop that was detached here is told on', () => {
  const { feed, texts } = listening();
  const detached = { ...loop('a', false), detached: true };
  feed.status({ message: '', loops: [loop('a', true), { ...detached, loopId: 'b' }] });
  feed.status({ message: '', loops: [{ ...loop('a', false), live: false }] });
  feed.status({ message: '', loops: [detached, { ...detached, loopId: 'b' }] });
  for (const loopId of ['a', 'b']) feed.updates({ loopId, cursor: '1', updates: [ends(1)] });
  assert.deepEqual(texts(), ['iteration 1 · ok']);
});

test('an entry has what its iteration did', () => {
  const { feed, told } = listening();
  feed.status({ message: '', loops: [loop('a', true)] });
  const says = (messageId: string, text: string): Update => ({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } });
  feed.updates({ loopId: 'a', cursor: '1', updates: [
    { sessionUpdate: '_ralph/iteration', phase: 'begin', iteration: 1, text: 'iteration 1' },
    says('m1', 'I look.'), { sessionUpdate: '_ralph/discard', messageId: 'm1', text: 'again' },
    { sessionUpdate: 'tool_call', toolCallId: 't', name: 'bash', title: 'make', status: 'in_progress' },
    { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'failed' },
    { ...says('s', 'A subagent speaks.'), parentToolCallId: 't' },
    says('m2', 'It '), says('m2', 'fails.\n\nWell.\n'), ends(1),
  ] });
  assert.deepEqual(told, [{ text: 'iteration 1 · ok', class: 'ok', rows: ['Well.'], more: ['✗ bash make', 'It fails.', 'Well.'] }]);
});

test('what can be done is asked of what is told', () => {
  const { feed, offers, texts } = listening();
  feed.status({ message: '', loops: [loop('a', true)] });
  feed.updates({ loopId: 'a', cursor: '1', updates: [
    { sessionUpdate: '_ralph/promise', text: 'not yet', class: 'warning', notify: true, offers: [{ title: 'Accept', command: 'ralph.loop.update' }] },
    { sessionUpdate: '_ralph/retry', text: 'waits' }, { sessionUpdate: '_ralph/state', text: 'waiting' }, { sessionUpdate: 'no_such_update' },
    { sessionUpdate: '_ralph/end', text: 'stopped', class: 'warning', notify: true, offers: [{ title: 'Go On', command: 'ralph.loop.resume' }] },
  ] });
  assert.deepEqual([texts(), offers], [['not yet', 'stopped'], ['not yet']], 'what an end offers is asked with the status');
});

test('what an agent asks stands in the conversation with all of it', () => {
  const { feed, told } = listening();
  feed.status({ message: '', loops: [loop('a', true)] });
  const asks = (detail: string): Update => ({ sessionUpdate: '_ralph/question', text: 'asks', class: 'warning', detail });
  feed.updates({ loopId: 'a', cursor: '1', updates: [asks('git commit\ngit push\n'), asks('--- a.go\n+++ a.go\n+new\n')] });
  assert.deepEqual(told.map(({ rows, patch }) => ({ rows, patch })), [
    { rows: ['git commit', 'git push'], patch: undefined },
    { rows: ['--- a.go', '+++ a.go', '+new'], patch: ['--- a.go', '+++ a.go', '+new'] },
  ]);
});
