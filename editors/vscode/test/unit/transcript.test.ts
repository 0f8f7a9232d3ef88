import assert from 'node:assert/strict';
import test from 'node:test';
import { Transcript } from '../../src/transcript';
import type { Update } from '../../src/wire';

const say = (text: string, messageId = 'm1'): Update => ({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } });
const call: Update = { sessionUpdate: 'tool_call', toolCallId: 't1', name: 'bash', title: 'go `test`', kind: 'execute', status: 'in_progress' };
const result = (text: string, status: 'completed' | 'failed' = 'completed'): Update => ({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status, content: [{ type: 'content', content: { type: 'text', text } }] });
const begin: Update = { sessionUpdate: '_ralph/iteration', phase: 'begin', iteration: 3, maxIterations: 50 };

function transcript(...updates: Update[]): string {
  const t = new Transcript(false);
  t.add(updates, updates.length);
  return t.text();
}

test('iterations, text and tools become markdown', () => {
  assert.equal(transcript(begin, say('Look'), say('ing.'), call, result('a\nb\n')), '## Iteration 3/50\n\nLooking.\n\n**bash** `` go `test` ``\n\n```text\na\nb\n```\n\n');
});

test('what an agent was told names its author', () => {
  const told = (fromAgentId?: string): Update => ({ sessionUpdate: 'user_message_chunk', fromAgentId, content: { type: 'text', text: 'Mind the tests' } });
  assert.match(transcript(told('lead')), /> lead: Mind the tests/);
  assert.match(transcript(told()), /> Mind the tests/);
});

test('output with fences stays in its block', () => {
  assert.match(transcript(call, result('```\nx\n```')), /````text\n```\nx\n```\n````/);
});

test('long output keeps its first and last lines', () => {
  const text = transcript(call, result(Array.from({ length: 100 }, (_, i) => `line ${i}`).join('\n'), 'failed'));
  assert.match(text, /failed[^]*line 9\n\.\.\. 80 lines \.\.\.\nline 90\n/);
  assert.doesNotMatch(text, /line 50/);
});

test('what is in already is skipped, and a hole is not closed by itself', () => {
  const t = new Transcript(false);
  t.add([say('one '), say('two ')], 2);
  t.add([say('two '), say('three')], 3);
  assert.equal(t.text(), 'one two three');
  assert.equal(t.seq, 3);
});

test("a failed attempt's text is taken back, and nothing else", () => {
  assert.equal(transcript(say('keep', 'm0'), say('lost', 'm1'), { sessionUpdate: '_ralph/discard', messageId: 'm1' }, say('again', 'm2')).replace(/\n+/g, '|'), 'keep|again');
});

test('text is never joined or taken back across iterations: the ids begin again', () => {
  const next: Update = { sessionUpdate: '_ralph/iteration', phase: 'begin', iteration: 4 };
  assert.equal(transcript(begin, say('first'), next, say('second'), { sessionUpdate: '_ralph/discard', messageId: 'm1' }, say('third', 'm2')), '## Iteration 3/50\n\nfirst\n\n## Iteration 4\n\nthird');
});

test("a subagent's text and, unless wanted, thoughts are left out", () => {
  const thought: Update = { sessionUpdate: 'agent_thought_chunk', messageId: 'm1', content: { type: 'text', text: 'hmm' } };
  const sub: Update = { sessionUpdate: 'agent_message_chunk', messageId: 's', parentToolCallId: 't1', content: { type: 'text', text: 'sub' } };
  assert.equal(transcript(thought, sub, say('x')), 'x');
  const all = new Transcript(true);
  all.add([thought, say('x')], 2);
  assert.match(all.text(), /Thinking:\* hmm\n\nx/);
});

test('it keeps the end of what is too long, and takes back text after that', () => {
  const t = new Transcript(false);
  for (let i = 1; i <= 100; i++) t.add([say(`${i} `.padEnd(10_000, 'x'), `m${i}`)], i);
  assert.ok(t.text().length < 210_000);
  assert.match(t.text(), /^\*\.\.\. the beginning is not kept/);
  t.add([{ sessionUpdate: '_ralph/discard', messageId: 'm100' }], 101);
  assert.doesNotMatch(t.text(), /100 x/);
  assert.match(t.text(), /99 x/);
});

test('the end says why, how long and what was refused', () => {
  const text = transcript({ sessionUpdate: '_ralph/end', stopReason: 'permission_denied', iterations: 2, durationMs: 65_000, denials: [{ tool: 'Bash', detail: 'rm -r' }] });
  assert.match(text, /\*\*failed: the agent was refused permission · 2 iterations · 1m 05s\*\*\n- refused: Bash rm -r/);
});

test('what is said of promises is shown as it is, tags as code', () => {
  const goal: Update = { sessionUpdate: '_ralph/goal', promise: 'DONE', source: 'prompt', text: 'done when the agent says <promise>DONE</promise> (from the prompt)', class: 'info' };
  const miss: Update = { sessionUpdate: '_ralph/promise', matched: false, found: 'X', message: 'm', text: 'not done yet: <promise>X</promise>', class: 'warning' };
  const warning: Update = { sessionUpdate: '_ralph/warning', message: 'm', text: '$8.00 of $10.00 are spent', class: 'warning' };
  assert.equal(transcript(goal, miss, warning),
    '> done when the agent says `<promise>DONE</promise>` (from the prompt)\n\n> ⚠ not done yet: `<promise>X</promise>`\n\n> ⚠ $8.00 of $10.00 are spent\n\n');
});
