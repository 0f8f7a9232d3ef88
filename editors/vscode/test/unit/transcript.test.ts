import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { Transcript } from '../../src/transcript';
import type { Update } from '../../src/wire';

declare const ROOT: string;
const say = (text: string, messageId = 'm1'): Update => ({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } });
const call: Update = { sessionUpdate: 'tool_call', toolCallId: 't1', name: 'bash', title: 'go `test`', kind: 'execute', status: 'in_progress' };
const result = (text: string, status: 'completed' | 'failed' = 'completed'): Update => ({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status, content: [{ type: 'content', content: { type: 'text', text } }] });
const begin: Update = { sessionUpdate: '_ralph/iteration', phase: 'begin', iteration: 3, text: 'iteration 3 of 50', class: 'info' };

function transcript(...updates: Update[]): string {
  const t = new Transcript(false);
  t.add(updates);
  return t.text();
}

test('iterations, text and tools become markdown', () => {
  assert.equal(transcript(begin, say('Look'), say('ing.'), call, result('a\nb\n')), '## Iteration 3 of 50\n\nLooking.\n\n**bash** `` go `test` ``\n\n```text\na\nb\n```\n\n');
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

test("a failed attempt's text is taken back, and nothing else", () => {
  assert.equal(transcript(say('keep', 'm0'), say('lost', 'm1'), { sessionUpdate: '_ralph/discard', messageId: 'm1' }, say('again', 'm2')).replace(/\n+/g, '|'), 'keep|again');
});

test('text is never joined or taken back across iterations: the ids begin again', () => {
  const next: Update = { sessionUpdate: '_ralph/iteration', phase: 'begin', iteration: 4, text: 'iteration 4' };
  assert.equal(transcript(begin, say('first'), next, say('second'), { sessionUpdate: '_ralph/discard', messageId: 'm1' }, say('third', 'm2')), '## Iteration 3 of 50\n\nfirst\n\n## Iteration 4\n\nthird');
});

test("a subagent's text and, unless wanted, thoughts are left out", () => {
  const thought: Update = { sessionUpdate: 'agent_thought_chunk', messageId: 'm1', content: { type: 'text', text: 'hmm' } };
  const sub: Update = { sessionUpdate: 'agent_message_chunk', messageId: 's', parentToolCallId: 't1', content: { type: 'text', text: 'sub' } };
  assert.equal(transcript(thought, sub, say('x')), 'x');
  const all = new Transcript(true);
  all.add([thought, say('x')]);
  assert.match(all.text(), /Thinking:\* hmm\n\nx/);
});

test('it keeps the end of what is too long, and takes back text after that', () => {
  const t = new Transcript(false);
  for (let i = 1; i <= 100; i++) t.add([say(`${i} `.padEnd(10_000, 'x'), `m${i}`)]);
  assert.ok(t.text().length < 210_000);
  assert.match(t.text(), /^\*\.\.\. the beginning is not kept/);
  t.add([{ sessionUpdate: '_ralph/discard', messageId: 'm100' }]);
  assert.doesNotMatch(t.text(), /100 x/);
  assert.match(t.text(), /99 x/);
});

test('what is said is shown as it is, tags as code', () => {
  const said = (kind: '_ralph/goal' | '_ralph/warning' | '_ralph/retry', text: string, level: 'info' | 'warning'): Update => ({ sessionUpdate: kind, text, class: level });
  assert.equal(transcript(said('_ralph/goal', 'done when the agent says <promise>DONE</promise> (from the prompt)', 'info'), said('_ralph/warning', 'not done yet: <promise>X</promise>', 'warning')),
    '> done when the agent says `<promise>DONE</promise>` (from the prompt)\n\n> ⚠ not done yet: `<promise>X</promise>`\n\n');
  assert.equal(transcript({ sessionUpdate: '_ralph/state', state: 'running' }, { sessionUpdate: 'usage_update' }), '', 'what has no words');
  assert.match(transcript({ sessionUpdate: '_ralph/end', stopReason: 'promise', text: 'done: DONE after 2 iterations', class: 'ok' }), /---\n\n\*\*done: DONE after 2 iterations\*\*/);
  assert.match(transcript({ sessionUpdate: '_ralph/end', stopReason: 'promise', text: 'done', receipt: [{ label: 'Asked', text: 'Mend *it*' }, { label: '', text: 'Be quick' }] }), /\*\*done\*\*\n\n\| \| \|\n.*\n\| Asked \| Mend \\\*it\\\* \|\n\|  \| Be quick \|\n/);
});

test('every kind of update with words is in the transcript, also one of a later server', () => {
  const dir = path.join(ROOT, '../../testdata/wire');
  const all = fs.readdirSync(dir).filter((f) => f.startsWith('update-')).map((f) => JSON.parse(fs.readFileSync(path.join(dir, f), 'utf8')));
  assert.ok(all.length > 15);
  for (const u of [...all, { sessionUpdate: '_ralph/new', text: 'news', class: 'info' }]) {
    if (u.sessionUpdate === '_ralph/discard') continue; // the text is taken out, and there is nothing to tell
    if (u.text) assert.match(transcript(u).replaceAll('`', ''), new RegExp(u.text.replace(/[$()|[\]*+?.^{}\\]/g, '\\$&'), 'i'), u.sessionUpdate);
  }
});
