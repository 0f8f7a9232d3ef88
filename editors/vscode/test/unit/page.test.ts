// What the page of a transcript makes of updates, without a page.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { Iteration, Update } from '../../src/wire';
import { compare, diffOf, unified } from '../../webview/diff';
import { tokensOf } from '../../webview/highlight';
import { piecesOf, placeOf } from '../../webview/links';
import { markdown, withPlaces } from '../../webview/markdown';
import { Part, textOf, type Row } from '../../webview/model';
import { plain } from '../../webview/plain';
import { Store } from '../../webview/store';
import { splitAt } from '../../webview/split';

test('the prompt, before the first iteration, is a place that is found again', () => {
  const store = new Store();
  store.add([{ sessionUpdate: 'user_message_chunk', messageId: 'prompt', content: { type: 'text', text: 'Build X' } }, begin(1), say('ok')], 1);
  const [first] = store.items(() => true);
  assert.deepEqual([store.iterationOf(first!.key), (store.find({ iteration: 0 }) as { key: string }).key], [0, first!.key]);
  assert.equal((store.find({ iteration: 1 }) as { row: Row }).row.kind, 'iteration');
});

test('code has colours, and nothing in it is more than text', () => {
  const kinds = (code: string, language: string): string => tokensOf(code, language).map(({ text, kind }) => (kind ? `${kind}:${text}` : text)).join('|');
  const cases: [string, string, string][] = [
    ['go', 'func f() { return "a // b" } // c', 'keyword:func| f() { |keyword:return| |string:"a // b"| } |comment:// c'],
    ['sh', 'echo 3 # if', 'echo |number:3| |comment:# if'],
    ['sql', "x = 'y' -- if", "x = |string:'y'| |comment:-- if"],
    ['ts', '/* if\nfor */ `a\nb` x', 'comment:/* if\nfor */| |string:`a\nb`| x'],
    ['py', '"open', 'string:"open'], ['text', 'if // no', 'if // no'], ['', 'if', 'if'], ['go', 'i'.repeat(30_000), 'i'.repeat(30_000)],
    ['rust', "fn f<'a>(x: &'a str)", "keyword:fn| f<'a>(x: &'a str)"],
  ];
  for (const [language, code, want] of cases) assert.equal(kinds(code, language), want, language);
  assert.equal(markdown('```go\nif x == "<b>" // see a/b.go:3\n```'), '<pre><span class="c-keyword">if</span> x == <span class="c-string">&quot;&lt;b&gt;&quot;</span> '
    + '<span class="c-comment">// see <a role="link" tabindex="0" data-path="a/b.go" data-line="3">a/b.go:3</a></span>\n</pre>\n'.replace('</pre>\n', '</pre>'));
});

declare const ROOT: string;
const say = (text: string, messageId = 'm1', more: object = {}): Update => ({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text }, ...more });
const call = (toolCallId: string, more: object = {}): Update => ({ sessionUpdate: 'tool_call', toolCallId, name: 'bash', title: 'go test', kind: 'execute', status: 'in_progress', ...more });
const result = (toolCallId: string, text: string, status: 'completed' | 'failed' | 'in_progress' = 'completed'): Update => ({ sessionUpdate: 'tool_call_update', toolCallId, status, content: [{ type: 'content', content: { type: 'text', text } }] });
const begin = (iteration: number): Iteration => ({ sessionUpdate: '_ralph/iteration', phase: 'begin', iteration, text: `iteration ${iteration} of 5`, facts: 'of 5', class: 'info' });
const end = (iteration: number): Iteration => ({ sessionUpdate: '_ralph/iteration', phase: 'end', iteration, text: 'ok · $0.31', class: 'ok', changes: { files: 2, added: 3, removed: 1 } } as Iteration);

function rowsOf(...updates: Update[]): Row[] {
  const part = new Part(0, new Map());
  part.add(updates);
  return part.rows;
}
const shown = (rows: Row[]): string[] => rows.map((row) => (row.kind === 'tool' ? `${row.name} ${row.status} ${row.output}` : `${row.kind} ${row.text}`));

test('a message is a row, and a tool call is one with its output', () => {
  assert.deepEqual(shown(rowsOf(begin(1), say('Look'), say('ing.'), call('t1'), result('t1', 'so far', 'in_progress'), result('t1', 'FAIL', 'failed'), end(1))),
    ['iteration iteration 1 of 5', 'text Looking.', 'bash failed FAIL']);
});

test('the header of an iteration changes when it has ended', () => {
  const iterations = new Map<number, Iteration>();
  const part = new Part(0, iterations);
  part.add([begin(3)]);
  const [header] = part.rows;
  const before = header!.version;
  part.add([end(3)]);
  assert.ok(header!.version > before);
  assert.deepEqual(iterations.get(3)?.changes, { files: 2, added: 3, removed: 1 });
});

test("a header has the server's words, not what is cut out of them", () => {
  const words = JSON.parse(fs.readFileSync(path.join(ROOT, '../../testdata/wire/rare.json'), 'utf8'))[0] as Iteration;
  const [header] = rowsOf({ ...words, text: 'In the words of a later server' });
  assert.equal((header as { facts: string }).facts, 'of 50 · builder, called by plan.ready from planner');
});

test('the ids of calls and messages begin again with each iteration', () => {
  const rows = rowsOf(begin(1), say('a'), call('t1'), result('t1', 'one'), end(1), begin(2), say('b'), call('t1'), result('t1', 'two'));
  assert.deepEqual(shown(rows).filter((s) => !s.startsWith('iteration')), ['text a', 'bash completed one', 'text b', 'bash completed two']);
});

test("a failed attempt's text goes, and that of another iteration stays", () => {
  const rows = rowsOf(begin(1), say('keep'), begin(2), say('lost'), { sessionUpdate: '_ralph/discard', messageId: 'm1' }, say('again', 'm2'));
  assert.deepEqual(shown(rows).filter((s) => s.startsWith('text')), ['text keep', 'text again']);
});

test('a call that has no result when the part ends is no longer shown as running', () => {
  const part = new Part(0, new Map());
  part.add([begin(1), call('t1')]);
  part.close();
  assert.equal((part.rows[1] as { status: string }).status, 'unknown');
});

test('a result whose call is in the part before has a row of its own', () => {
  assert.deepEqual(shown(rowsOf(result('t9', 'late'))), [' completed late']);
});

test('thoughts, subagents and what the agent was told are told apart', () => {
  const rows = rowsOf({ sessionUpdate: 'agent_thought_chunk', messageId: 'm1', content: { type: 'text', text: 'hm' } }, say('sub', 's', { parentToolCallId: 't1' }), say('x'), { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'mind the tests' } });
  assert.deepEqual(rows.map((row) => row.kind === 'text' && row.by), ['thought', 'subagent', undefined, 'user']);
});

const step = (toolCallId: string, title: string, parentToolCallId?: string): Update => call(toolCallId, { name: 'step', title, kind: 'think', subagent: {}, parentToolCallId }) as Update;
const below = (parentToolCallId: string): object => ({ parentToolCallId });
const outline = (rows: Row[]): string[] => rows.map((row) => '  '.repeat(row.above?.length ?? 0) + (row.kind === 'tool' ? row.title : textOf(row)));

test('agents that work at once do not mix: what each does is below it, to any depth', () => {
  const rows = rowsOf(begin(1), step('a', 'scout: one'), step('b', 'scout: two'),
    say('I lo', 'a1', below('a')), say('Tes', 'b1', below('b')), say('ok', 'a1', below('a')), call('b/t', { title: 'ls', ...below('b') }), say('ts', 'b2', below('b')),
    step('a/c', 'Explore: three', 'a'), say('deep', 'c1', below('a/c')), say('meanwhile', 'm1'), call('a/t', { title: 'wc', ...below('a') }), say('more', 'm1'), result('b/t', 'x'));
  assert.deepEqual(outline(rows), ['iteration 1 of 5', 'scout: one', '  I look', '  Explore: three', '    deep', '  wc', 'scout: two', '  Tes', '  ls', '  ts', 'meanwhilemore']);
  assert.deepEqual(outline(rowsOf(begin(1), step('a', 'one'), begin(2), step('a', 'again'), say('x', 'm', below('a')))), ['iteration 1 of 5', 'one', 'iteration 2 of 5', 'again', '  x']);
});

test('what is below an agent is shown when that is open, and its row can be reached', () => {
  const store = new Store();
  store.add([begin(1), step('a', 'scout: one'), step('a/b', 'Explore', 'a'), call('t', { ...below('a/b') }), call('u')]);
  const shown = (open: string[]): number => store.items((_, row) => row.kind === 'tool' && open.includes(row.callId)).length;
  assert.deepEqual([shown([]), shown(['a']), shown(['a/b']), shown(['a', 'a/b'])], [3, 4, 3, 5]);
  const found = store.find({ iteration: 1, toolCallId: 't' });
  assert.deepEqual(found && 'key' in found && store.above(found.key), ['0:1', '0:2']);
});

test('what an agent used is at its end', () => {
  const [row] = rowsOf(step('a', 'scout: one'), { ...result('a', 'done'), facts: '12s · $0.0042' } as Update);
  assert.equal(row?.kind === 'tool' && row.facts, '12s · $0.0042');
});

test('a long message is several rows, cut between paragraphs, and says the same', () => {
  const text = Array.from({ length: 200 }, (_, i) => `Paragraph ${i} `.repeat(10)).join('\n\n');
  const rows = rowsOf(...(text.match(/[^]{1,500}/g) ?? []).map((piece) => say(piece)));
  assert.ok(rows.length > 3);
  assert.equal(rows.map(textOf).join(''), text);
  for (const row of rows.slice(0, -1)) assert.match(textOf(row), /\n\n$/);
});

test('a block of code is cut only when it is very long, and a line without an end is cut too', () => {
  assert.equal(splitAt('```\n' + 'code\n\n'.repeat(1000)), 0);
  assert.ok(splitAt('```\n' + 'code\n\n'.repeat(10_000)) > 0);
  assert.equal(splitAt('x'.repeat(20_000)), 16_000);
});

test('what looks different from what it is goes: sequences, what is invisible, what reorders', () => {
  const hostile = 'a\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007 \u202eevil\u202c z\u200bw \ufeff\u{e0041}b\r\nc';
  assert.equal(plain(hostile), 'ared link evil zw b\nc');
  const [message, tool] = rowsOf(say(hostile), call('t1', { title: hostile, rawInput: { content: hostile } }));
  for (const text of [textOf(message!), textOf(tool!), markdown(hostile), markdown('a&#x202e;&#8203;&#27;[31m'), diffOf({ content: hostile })[0]!.text]) assert.doesNotMatch(text, /[\u001b\u202e\u200b\ufeff]/);
});

test("an agent's HTML, pictures and addresses do nothing by themselves", () => {
  const hostile = [
    '<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '![p](http://evil/p.png)', '[a](javascript:alert(1))', '[b](command:workbench.action.quit)',
    '[c](file:///etc/passwd)', '[d](vscode://x/y)', '[e](data:text/html,x)', '[f](http://evil/)', '<http://evil/>', '`<b onclick=x>`', '```html\n<svg onload=x>\n```', '[g](//evil/x)', '"><b>', '| a |\n|:-:|\n| b |',
  ].join('\n\n');
  const html = markdown(hostile, 'https://files');
  assert.doesNotMatch(html, /<(?:script|img|svg|iframe|b)\b/);
  assert.doesNotMatch(html, /<[^>]*\s(?:href|src|style|on\w+)=/);
  assert.doesNotMatch(html.replace(/title="[^"]*"/g, ''), /data-path="(?:javascript|command|file|vscode|data|http)/);
  assert.match(html, /<a role="link" tabindex="0" title="http:\/\/evil\/" data-web="http:\/\/evil\/">f<\/a>/);
  assert.match(html, /<span class="address" title="\/\/evil\/x">g<\/span>/);
});

test('a very long line, and a deep nest, are shown in time', () => {
  markdown('x'.repeat(16_000));
  markdown('>'.repeat(16_000));
  markdown('['.repeat(16_000));
  markdown('*a '.repeat(5000));
  withPlaces('a/'.repeat(200_000));
});

test('places in files are links, and times, ports and addresses are not', () => {
  const places = (text: string) => piecesOf(text).flatMap((p) => (p.place ? [p.place] : []));
  assert.deepEqual(places('see main.go:12 and src/a b/x.ts:3:7, (./y.py:9)'), [{ path: 'main.go', line: 12 }, { path: 'b/x.ts', line: 3, column: 7 }, { path: './y.py', line: 9 }]);
  assert.deepEqual(places('10:42:11 http://host:80/x localhost:8080 a:1 12.5:3 x.go:12abc'), []);
  assert.equal(piecesOf('a main.go:12 b').map((p) => p.text).join(''), 'a main.go:12 b');
});

test('links of markdown lead to files only', () => {
  assert.deepEqual(placeOf('src/main.go:3'), { path: 'src/main.go', line: 3 });
  assert.deepEqual(placeOf('main.go:3:4'), { path: 'main.go', line: 3, column: 4 });
  assert.deepEqual(placeOf('docs/A%20b.md#L7'), { path: 'docs/A b.md', line: 7 });
  for (const href of ['javascript:alert(1)', 'command:x', 'file:///etc/passwd', 'https://x', '//x/y', '#here', '?x']) assert.equal(placeOf(href), undefined, href);
  assert.match(markdown('[the `code`](a.go:3)'), /<a role="link" tabindex="0" data-path="a.go" data-line="3">the <code>code<\/code><\/a>/);
});

test('a picture of the folder is shown, and leads to the file; any other is a link', () => {
  const shown = (text: string) => /<img[^>]* src="([^"]*)"/.exec(markdown(text, 'https://files/a'))?.[1];
  assert.equal(shown('![a chart](out/my%20chart.png)'), 'https://files/a/out/my%20chart.png');
  assert.equal(shown('![a](./x&y.SVG)'), 'https://files/a/x%26y.SVG');
  for (const text of ['![a](http://evil/p.png)', '![a](../p.png)', '![a](a/../../p.png)', '![a](/etc/p.png)', '![a](C:\\p.png)', '![a](data:image/png;base64,AA)', '![a](notes.md)']) assert.equal(shown(text), undefined, text);
  assert.equal(/<img/.test(markdown('![a](p.png)')), false, 'the files are of another machine');
  assert.match(markdown('![a "b"](p.png)', 'https://f'), /^<p><a role="link" tabindex="0" data-path="p.png"><img loading="lazy" alt="a &quot;b&quot;" src="https:\/\/f\/p.png"><\/a><\/p>/);
  assert.equal(markdown('[![a](p.png)](b.md)', 'https://f').match(/<a /g)?.length, 1);
});

test('an address in a text leads into the web, a file name and a host alone do not', () => {
  const webs = (text: string) => [...markdown(text).matchAll(/data-web="([^"]*)"/g)].map((m) => m[1]);
  assert.deepEqual(webs('see https://example.com/a?b=1&c and (http://localhost:3000).'), ['https://example.com/a?b=1&amp;c', 'http://localhost:3000']);
  assert.deepEqual(webs('main.rs example.com //x/y me@example.com ftp://x mailto:a@b.c `https://code`'), []);
});

test('an edit has its diff, in the words of each agent', () => {
  const lines = (input: unknown) => diffOf(input).map((l) => l.sign + l.text);
  const wanted = [' a', '-b', '+c'];
  assert.deepEqual(lines({ path: 'x', edits: [{ oldText: 'a\nb', newText: 'a\nc' }] }), wanted);
  assert.deepEqual(lines({ file_path: 'x', old_string: 'a\nb\n', new_string: 'a\nc\n' }), wanted);
  assert.deepEqual(lines({ file_path: 'x', content: 'n\n' }), ['+n']);
  assert.deepEqual(lines({ input: '*** Begin Patch\n-b\n+c' }), [' *** Begin Patch', '-b', '+c']);
  for (const input of [undefined, 'x', { command: 'ls' }, { edits: ['x'] }, { old_string: 3 }]) assert.deepEqual(lines(input), []);
  assert.equal(diffOf({ content: 'x\n'.repeat(9000) }).length, 1000);
});

test('the lines of a diff make both texts', () => {
  const [before, after] = ['abcdxyz', 'abxqyz'].map((s) => [...s]) as [string[], string[]];
  const lines = compare(before, after);
  assert.equal(lines.filter((l) => l.sign !== '+').map((l) => l.text).join(''), 'abcdxyz');
  assert.equal(lines.filter((l) => l.sign !== '-').map((l) => l.text).join(''), 'abxqyz');
  assert.equal(lines.filter((l) => l.sign === ' ').length, 5);
});

test('every kind of update with words is shown, also one of a later server, with what can be done', () => {
  const dir = path.join(ROOT, '../../testdata/wire');
  const all = fs.readdirSync(dir).filter((f) => f.startsWith('update-')).map((f) => JSON.parse(fs.readFileSync(path.join(dir, f), 'utf8')));
  for (const u of [...all, { sessionUpdate: '_ralph/new', text: 'news', class: 'info' }]) {
    if (u.sessionUpdate === '_ralph/discard' || !u.text) continue;
    const iterations = new Map<number, Iteration>();
    const part = new Part(0, iterations);
    part.add([u]);
    const texts = [...part.rows.map(textOf), ...[...iterations.values()].map((i) => i.text)].join('\n');
    assert.ok(texts.includes(u.text), u.sessionUpdate);
    if (u.offers) assert.deepEqual((part.rows[0] as { offers?: object }).offers, u.offers);
  }
});

test('an end has its receipt', () => {
  const part = new Part(0, new Map());
  part.add([{ sessionUpdate: '_ralph/end', stopReason: 'promise', text: 'done', receipt: [{ label: 'Asked', text: 'Mend it' }, { label: '', text: 'Be quick' }] } as Update]);
  assert.equal(textOf(part.rows[0]!), 'done\nAsked       Mend it\n            Be quick');
  assert.deepEqual((part.rows[0] as { receipt?: object }).receipt, [{ label: 'Asked', text: 'Mend it' }, { label: '', text: 'Be quick' }], 'its columns are drawn as such');
});

test('a task list has its boxes, and nothing else that looks like one', () => {
  assert.match(markdown('- [ ] write\n- [x] read **all**\n- [X] run\n- [link](a.md)\n- [y] no\n\n[ ] no'),
    /<li class="task">☐ write<\/li>\n<li class="task">☑ read <strong>all<\/strong><\/li>\n<li class="task">☑ run<\/li>\n<li><a [^>]*>link<\/a><\/li>\n<li>\[y\] no<\/li>\n<\/ul>\n<p>\[ \] no<\/p>/);
  assert.match(markdown('1. [ ] first\n\n   more'), /<p>☐ first<\/p>\n<p>more<\/p>/);
});

test('a diff that an agent shows is one', () => {
  assert.equal(markdown('```diff\n--- a.go\n+++ a.go\n@@ -1 +1 @@\n-old <b>\n+new\n same\n--i\n```'),
    '<pre class="diff"><span>--- a.go\n</span><span>+++ a.go\n</span><span>@@ -1 +1 @@\n</span><del>-old &lt;b&gt;\n</del><ins>+new\n</ins><span> same\n</span><del>--i\n</del></pre>');
});

test('what was offered at an end goes when the loop goes on', () => {
  const offers = [{ title: 'Resume', command: 'ralph.loop.resume', arguments: [{}] }];
  const part = new Part(0, new Map());
  part.add([
    { sessionUpdate: '_ralph/promise', text: 'a near miss', offers }, { sessionUpdate: '_ralph/end', text: 'failed', class: 'error', offers },
  ] as Update[]);
  const offered = () => part.rows.map((r) => (r.kind === 'said' ? `${r.about} ${r.offers.length}` : r.kind)).join(', ');
  assert.equal(offered(), 'promise 1, end 1');
  part.add([{ sessionUpdate: '_ralph/iteration', phase: 'begin', iteration: 2, text: 'iteration 2' }] as Update[]);
  assert.equal(offered(), 'promise 1, end 0, iteration');
});

test('so it does where it goes on in another part', () => {
  const over = { sessionUpdate: '_ralph/end', text: 'interrupted', class: 'warning', offers: [{ title: 'Resume', command: 'ralph.loop.resume', arguments: [{}] }] } as Update;
  const store = new Store([{ iteration: 1, bytes: 1 }, { iteration: 1, bytes: 1 }], [begin(1)]);
  const offered = () => store.items().map(({ key }) => store.row(key)).map((row) => (row?.kind === 'said' ? row.offers.length : '')).join('');
  store.take(1, [begin(1), over], 0);
  store.take(0, [begin(1), over], 0);
  assert.equal(offered(), '01');
  store.add([begin(1)]);
  assert.equal(offered(), '00');
  store.take(1, [begin(1), over], 0);
  assert.equal(offered(), '00', 'read again');
});

test('each run of an iteration has its own end, and one that was cut off says so', () => {
  const ends = (store: Store) => store.items().map(({ key }) => store.row(key)!).flatMap((row) => {
    if (row.kind !== 'iteration') return [];
    const it = store.endOf(row);
    return [it === 'cut' ? it : it?.text ?? 'runs'];
  });
  const cancelled: Iteration = { ...end(1), text: 'cancelled', class: 'info' };
  const again = new Store();
  again.add([begin(1), call('t1'), cancelled, begin(1), call('t1')]);
  assert.deepEqual(ends(again), ['cancelled', 'runs']);
  again.add([end(1)]);
  assert.deepEqual(ends(again), ['cancelled', 'ok · $0.31']);
  const killed = new Store([{ iteration: 1, bytes: 1 }], [begin(1)]);
  killed.take(0, [begin(1), call('t1')], 0);
  assert.deepEqual(ends(killed), ['runs']);
  killed.close(); // nobody drives it any more
  assert.deepEqual(ends(killed), ['cut']);
  killed.add([begin(2), call('t1')], 1);
  assert.deepEqual(ends(killed), ['cut', 'runs']);
});

test('an iteration whose promise is refuted knows it', () => {
  const refuted = { sessionUpdate: '_ralph/verify', state: 'refuted', text: 'promised, but go test failed', class: 'warning' } as Update;
  const headers = rowsOf(begin(1), end(1), refuted, begin(2), end(2), { ...refuted, state: 'verified' } as Update).filter((row) => row.kind === 'iteration');
  assert.deepEqual(headers.map((row) => row.isRefuted ?? false), [true, false]);
});

test('a question has all there is to read, and what came of it a row of its own', () => {
  const read = (name: string): Update => JSON.parse(fs.readFileSync(path.join(ROOT, `../../testdata/wire/update-ralph-${name}.json`), 'utf8'));
  const [asked, answered] = rowsOf(read('question'), read('answer'));
  assert.ok(asked?.kind === 'said' && asked.question?.id === 'q1' && asked.question.at && asked.more === undefined, JSON.stringify(asked));
  const [long] = rowsOf({ ...read('question'), detail: 'git commit -m wip\ngit push' } as Update);
  assert.ok(long?.kind === 'said' && long.more === 'git commit -m wip\ngit push', 'not all of it is in its line');
  assert.ok(answered?.kind === 'said' && !answered.question && answered.text === 'denied: Bash git commit -m wip: not that folder', JSON.stringify(answered));
});

test('what a question would change is shown as a diff, and a command is not', () => {
  const signs = (text: string): string => unified(text).map(({ sign, text: line }) => `${sign}|${line}`).join(' ');
  assert.equal(signs('--- a.go\n+++ a.go\n@@\n--- old\n+new\n'), ' |--- a.go  |+++ a.go  |@@ -|-- old +|new');
  assert.equal(signs('+++ a.go\n+new'), ' |+++ a.go +|new');
  assert.equal(signs('git diff\n+++ a'), '');
});
