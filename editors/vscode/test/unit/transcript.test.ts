import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { markdown } from '../../src/transcript';
import type { Iteration, Update } from '../../src/wire';
import { Part } from '../../webview/model';

declare const ROOT: string;
const say = (text: string, messageId = 'm1'): Update => ({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } });
const call: Update = { sessionUpdate: 'tool_call', toolCallId: 't1', name: 'bash', title: 'go `test`', kind: 'execute', status: 'in_progress' };
const result = (text: string, status: 'completed' | 'failed' = 'completed'): Update => ({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status, content: [{ type: 'content', content: { type: 'text', text } }] });
const begin: Update = { sessionUpdate: '_ralph/iteration', phase: 'begin', iteration: 3, text: 'iteration 3 of 50', class: 'info' };

function transcript(...updates: Update[]): string {
  return textOf(partOf(updates), false);
}

function partOf(updates: Update[], part = new Part(0, new Map())): Part {
  part.add(updates);
  return part;
}

const textOf = (part: Part, thinking: boolean, iterations = new Map<number, Iteration>()): string => markdown(part.rows, iterations, thinking);

test('iterations, text and tools become markdown', () => {
  assert.equal(transcript(begin, say('Look'), say('ing.'), call, result('a\nb\n')), '## Iteration 3 of 50\n\nLooking.\n\n**bash** `` go `test` ``\n\n```text\na\nb\n```\n\n');
});

test('an iteration that is over says below its heading what came of it, wherever it was told', () => {
  const end: Iteration = { ...begin, phase: 'end', text: 'iteration 3: 2m05s' } as Iteration;
  const want = '## Iteration 3 of 50\n\n*iteration 3: 2m05s*\n\nx\n\n';
  assert.equal(transcript(begin, say('x'), end), want);
  assert.equal(textOf(partOf([begin, say('x')]), false, new Map([[3, end]])), want);
  assert.equal(transcript(begin, begin, say('x'), end), `## Iteration 3 of 50\n\n${want}`, 'one that was interrupted has no end');
});

test('what the agent was told is quoted', () => {
  assert.equal(transcript({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Mind\nthe tests' } }), '> Mind\n> the tests\n\n');
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
  assert.equal(transcript(say('keep', 'm0'), say('lost', 'm1'), { sessionUpdate: '_ralph/discard', messageId: 'm1' }, say('again', 'm2')), 'keep\n\nagain\n\n');
});

test('text is never joined or taken back across iterations: the ids begin again', () => {
  const next: Update = { sessionUpdate: '_ralph/iteration', phase: 'begin', iteration: 4, text: 'iteration 4' };
  assert.equal(transcript(begin, say('first'), next, say('second'), { sessionUpdate: '_ralph/discard', messageId: 'm1' }, say('third', 'm2')), '## Iteration 3 of 50\n\nfirst\n\n## Iteration 4\n\nthird\n\n');
});

test("a subagent's text and, unless wanted, thoughts are left out", () => {
  const thought: Update = { sessionUpdate: 'agent_thought_chunk', messageId: 'm1', content: { type: 'text', text: 'hmm' } };
  const sub: Update = { sessionUpdate: 'agent_message_chunk', messageId: 's', parentToolCallId: 't1', content: { type: 'text', text: 'sub' } };
  assert.equal(transcript(thought, sub, say('x')), 'x\n\n');
  assert.match(textOf(partOf([thought, say('x')]), true), /Thinking:\* hmm\n\nx/);
});

test('it keeps the end of what is too long, and takes back text after that', () => {
  const part = partOf(Array.from({ length: 100 }, (_, i) => say(`${i + 1} `.padEnd(10_000, 'x'), `m${i + 1}`)));
  const text = textOf(part, false);
  assert.ok(text.length < 210_000);
  assert.match(text, /^\*\.\.\. the beginning is not kept/);
  partOf([{ sessionUpdate: '_ralph/discard', messageId: 'm100' }], part);
  assert.doesNotMatch(textOf(part, false), /100 x/);
  assert.match(textOf(part, false), /99 x/);
});

test('a long message is one, however many rows it has', () => {
  const text = `${'word '.repeat(8000)}\n\n${'more '.repeat(1000)}`;
  assert.equal(transcript(say(text)), `${text}\n\n`);
});

test('a result whose call was not read is shown by itself, one that was is with its call', () => {
  assert.equal(transcript(result('late')), '```text\nlate\n```\n\n');
  const [before, behind] = [partOf([call]), partOf([result('late')])];
  before.join(behind);
  assert.equal(markdown([...before.rows, ...behind.rows], new Map(), false), '**bash** `` go `test` ``\n\n```text\nlate\n```\n\n');
});

test('what is said is shown as it is, tags as code', () => {
  const said = (kind: '_ralph/goal' | '_ralph/warning' | '_ralph/retry', text: string, level: 'info' | 'warning'): Update => ({ sessionUpdate: kind, text, class: level });
  assert.equal(transcript(said('_ralph/goal', 'done when the agent says <promise>DONE</promise> (from the prompt)', 'info'), said('_ralph/warning', 'not done yet: <promise>X</promise>', 'warning')),
    '> done when the agent says `<promise>DONE</promise>` (from the prompt)\n\n> ⚠ not done yet: `<promise>X</promise>`\n\n');
  assert.equal(transcript({ sessionUpdate: '_ralph/state', state: 'running' }, { sessionUpdate: 'usage_update' }), '', 'what has no words');
  assert.match(transcript({ sessionUpdate: '_ralph/end', stopReason: 'promise', text: 'done: DONE after 2 iterations', class: 'ok' }), /---\n\n\*\*done: DONE after 2 iterations\*\*/);
  assert.match(transcript({ sessionUpdate: '_ralph/end', stopReason: 'promise', text: 'done', receipt: [{ label: 'Asked', text: 'Mend *it*' }, { label: '', text: 'Be quick' }] }), /\*\*done\*\*\n\n```\nAsked +Mend \*it\*\n +Be quick\n```\n/);
});

test('every kind of update with words is in the transcript, also one of a later server', () => {
  const dir = path.join(ROOT, '../../testdata/wire');
  const all = fs.readdirSync(dir).filter((f) => f.startsWith('update-')).map((f) => JSON.parse(fs.readFileSync(path.join(dir, f), 'utf8')));
  assert.ok(all.length > 15);
  for (const u of [...all, { sessionUpdate: '_ralph/new', text: 'news', class: 'info' }]) {
    if (u.sessionUpdate === '_ralph/discard') continue; // the text is taken out, and there is nothing to tell
    if (u.text) assert.match(transcript({ ...begin, iteration: u.iteration } as Iteration, u).replaceAll('`', ''), new RegExp(u.text.replace(/[$()|[\]*+?.^{}\\]/g, '\\$&'), 'i'), u.sessionUpdate);
  }
});
