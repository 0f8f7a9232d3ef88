import assert from 'node:assert/strict';
import test from 'node:test';
import { LoopRecord } from '../../src/loopRecord';
import { roots, type Node, type TreeInput } from '../../src/treeModel';
import type { ChangedFile, Iteration, LoopStatus, PastLoop, ToolCall, Update } from '../../src/wire';

const edit = (id: string, path: string): ToolCall => ({ sessionUpdate: 'tool_call', toolCallId: id, name: 'edit', title: path, kind: 'edit', status: 'in_progress' });
const done = (id: string, status: 'completed' | 'failed' = 'completed'): Update => ({ sessionUpdate: 'tool_call_update', toolCallId: id, status });
const begin = (iteration: number): Update => ({ sessionUpdate: '_ralph/iteration', phase: 'begin', iteration });
const end = (iteration: number, files = 0): Update => ({ sessionUpdate: '_ralph/iteration', phase: 'end', iteration, text: 'ok · $0.31 · 1m01s', class: 'ok', changes: { files } } as Update);

function record(...updates: Update[]): LoopRecord {
  const r = new LoopRecord('a');
  r.add(updates);
  return r;
}

test('nothing in what an agent asks ends the block that shows it', async () => {
  const asking: LoopStatus = { loopId: 'a', folder: 'file:///w', title: 'w', state: 'waiting', class: 'warning', live: true, busy: false, owned: true, questions: [{ id: 'q', kind: 'permission', title: 'Bash', detail: '```\n![p](http://evil/p.png)\n````', text: 'asks' }] };
  const [loop] = roots({ loops: [asking], records: new Map(), past: [], read: () => Promise.reject(new Error('not asked for')), changes: () => Promise.resolve(undefined) });
  const [question] = await loop!.children!();
  assert.equal(question!.hover!(), '`````\n```\n![p](http://evil/p.png)\n````\n`````');
});

test('an interrupted iteration begins again in its place', () => {
  const cancelled = { sessionUpdate: '_ralph/iteration', phase: 'end', iteration: 2, text: 'cancelled', class: 'info' } as Update;
  for (const last of [[cancelled], []]) {
    const r = record(begin(1), end(1), begin(2), edit('t1', 'a'), done('t1'), ...last, begin(2));
    assert.deepEqual(r.iterations.map((i) => [i.number, i.running, i.tools.length]), [[1, false, 0], [2, true, 0]]);
  }
});

test('nothing runs on after an iteration or an interruption', () => {
  for (const over of [(r: LoopRecord) => r.add([end(1)]), (r: LoopRecord) => r.interrupted(), (r: LoopRecord) => r.add([begin(2)])]) {
    const r = record(begin(1), edit('t1', 'a'));
    const first = r.iterations[0];
    over(r);
    assert.deepEqual([first?.running, first?.tools[0]?.status], [false, 'failed']);
    r.add([done('t1')]); // of another iteration: ids begin again there
    assert.equal(first?.tools[0]?.status, 'failed');
  }
});

test('an iteration that was cut off says so, and one whose promise is refuted is not green', () => {
  const refuted = { sessionUpdate: '_ralph/verify', state: 'refuted', text: 'promised, but go test failed', class: 'warning' } as Update;
  const r = record(begin(1), end(1), refuted, refuted, begin(2), edit('t1', 'a'), begin(3));
  const came = (of: LoopRecord) => of.iterations.map((i) => `${i.class} ${i.text}`);
  assert.deepEqual(came(r), ['warning promise refuted · ok · $0.31 · 1m01s', 'warning interrupted', 'undefined undefined']);
  const past = new LoopRecord('r');
  past.outline([end(1), begin(2)] as Iteration[]);
  assert.deepEqual(came(past), ['ok ok · $0.31 · 1m01s', 'warning interrupted']);
  past.fill(1, [begin(1), end(1), refuted]);
  assert.equal(came(past)[0], 'warning promise refuted · ok · $0.31 · 1m01s');
});

test('what was read and comes once more is there once', () => {
  const r = record(begin(1), edit('t1', 'a'), done('t1'), end(1), begin(2), edit('t1', 'b'));
  r.add([end(1)]);
  r.add([begin(2), edit('t1', 'b')], 2);
  r.add([edit('t1', 'b'), done('t1'), edit('t2', 'c')], 2);
  assert.deepEqual(r.iterations.map((i) => [i.number, i.running, i.tools.map((tool) => `${tool.title} ${tool.status}`)]), [[1, false, ['a completed']], [2, true, ['b completed', 'c in_progress']]]);
});

test('only the last tool calls of an iteration are kept', () => {
  const r = record(begin(1), ...Array.from({ length: 1000 }, (_, i) => [edit(`t${i}`, `f${i}`), done(`t${i}`)]).flat());
  assert.equal(r.iterations[0]?.tools.length, 200);
  assert.equal(r.iterations[0]?.forgotten, 800);
});

test('what was before is known by its end, and what it did once it is asked for', () => {
  const r = record(begin(3), edit('t9', 'c'));
  r.outline([end(1, 2), end(2), begin(3)] as Iteration[]);
  const shown = () => r.iterations.map((i) => [i.number, i.running, i.text, i.tools.map((tool) => `${tool.title} ${tool.status}`).join()]);
  assert.deepEqual(shown(), [[1, false, 'ok · $0.31 · 1m01s', ''], [2, false, 'ok · $0.31 · 1m01s', ''], [3, true, undefined, 'c in_progress']]);
  r.fill(1, [begin(1), edit('t1', 'a'), done('t1'), end(1, 2)]);
  r.fill(2, [edit('t2', 'b')]); // its last part
  r.fill(3, [begin(3)]);
  assert.deepEqual(shown().map((i) => i[3]), ['a completed', 'b failed', 'c in_progress']);
});

test('of a past loop only what is opened is read', async () => {
  const asked: unknown[] = [];
  const r = new LoopRecord('p');
  const read: TreeInput['read'] = (loopId, iteration) => {
    asked.push([loopId, iteration]);
    if (iteration) r.fill(iteration, [edit('t1', `in ${iteration}`)]);
    else r.outline([end(1), end(2)] as Iteration[]);
    return Promise.resolve(r);
  };
  const [group] = roots(input({ past: [{ loopId: 'p', title: 'p', startedAt: '2026-01-02T10:00:00Z', text: 'done', class: 'ok' } as PastLoop], read }));
  const below = async (n?: Node): Promise<Node[]> => (await n?.children?.()) ?? [];
  const [second, first] = await below((await below(group))[0]);
  assert.deepEqual([second?.label, first?.label, asked], ['Iteration 2', 'Iteration 1', [['p', undefined]]]);
  assert.deepEqual((await below(first)).map((n) => n.label), ['in 1']);
  await below(first);
  assert.deepEqual(asked, [['p', undefined], ['p', 1]]);
});

test('what comes from the middle of an iteration is of that one', () => {
  const r = new LoopRecord('a');
  r.add([{ sessionUpdate: 'usage_update' }, edit('t1', 'a')], 7);
  r.add([edit('t2', 'a')], 7);
  assert.deepEqual(r.iterations.map((i) => [i.number, i.tools.length]), [[7, 2]]);
});

const loop: LoopStatus = { loopId: 'a', folder: 'file:///w/app', title: 'app', state: 'running', text: '2/5 · working', line: '2/5 · working', class: 'info', live: true, busy: true, can: ['pause'], owned: true };
const file = (path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({ path, uri: `file:///w/app/${path}`, status: 'modified', text: '+3 -1', added: 3, removed: 1, ...more });
const input = (more: Partial<TreeInput>): TreeInput => ({
  loops: [], records: new Map(), past: [], read: () => Promise.reject(new Error('not asked for')), changes: () => Promise.resolve(undefined), ...more,
});
/** A server that knows what each iteration changed; undefined is the whole loop. */
const changed = (all: Map<number | undefined, ChangedFile[]>): TreeInput['changes'] => ({ loopId = '', folder = '', iteration }) => Promise.resolve(
  { loopId, folder, from: 0, text: 'so many files', class: 'info', iterations: [], files: all.get(iteration) ?? [] });

async function all(nodes: Node[], depth = 0): Promise<{ node: Node; depth: number }[]> {
  const parts = nodes.map(async (node) => [{ node, depth }, ...(await all((await node.children?.()) ?? [], depth + 1))]);
  return (await Promise.all(parts)).flat();
}
const draw = async (nodes: Node[]) => (await all(nodes)).map(({ node: n, depth }) => `${'  '.repeat(depth)}${n.label}${n.description ? ` [${n.description}]` : ''}`);

test('the tree has all changes first, then the newest iteration, with its files before its calls', async () => {
  const r = record(begin(1), edit('t1', 'src/a.go'), done('t1'), end(1, 2), begin(2), end(2), begin(3));
  const one = [file('src/a.go', { kept: true }), file('b.go', { status: 'added', text: '+1 -0' })];
  const nodes = roots(input({ loops: [loop], records: new Map([['a', r]]), changes: changed(new Map([[undefined, one], [1, one]])) }));
  const files = (indent: string) => [`${indent}a.go [+3 -1 · src · kept]`, `${indent}b.go [+1 -0]`];
  assert.deepEqual(await draw(nodes), [
    'app [2/5 · working]', '  All changes [so many files]', ...files('    '),
    '  Iteration 3 [running]', '  Iteration 2 [ok · $0.31 · 1m01s]', '  Iteration 1 [ok · $0.31 · 1m01s]', ...files('    '), '    src/a.go [edit]',
  ]);
});

test('what an agent does that another has work is below it, with what it used', async () => {
  const step = (id: string, title: string): ToolCall => ({ sessionUpdate: 'tool_call', toolCallId: id, name: 'step', title, kind: 'think', status: 'in_progress', subagent: {} });
  const by = (parentToolCallId: string, u: ToolCall): ToolCall => ({ ...u, parentToolCallId });
  const r = record(begin(1), step('s1', 'scout 1/2: Find it'), step('s2', 'scout 1/2: Test it'), by('s2', edit('t2', 'b.go')), by('s1', edit('t1', 'a.go')), by('s1', step('s1/a', 'Explore: deep')),
    by('s1/a', edit('t3', 'c.go')), by('gone', edit('t4', 'd.go')), { ...done('s1'), facts: '12s · $0.0042' } as Update);
  assert.deepEqual((await draw(roots(input({ loops: [loop], records: new Map([['a', r]]) })))).slice(2), [
    '    scout 1/2: Find it [12s · $0.0042]', '      a.go [edit]', '      Explore: deep', '        c.go [edit]', '    scout 1/2: Test it', '      b.go [edit]', '    d.go [edit]',
  ]);
});

test('nothing is asked about iterations that changed nothing or still run', async () => {
  const r = record(begin(1), end(1), begin(2));
  const changes = () => Promise.reject(new Error('asked'));
  assert.equal((await draw(roots(input({ loops: [loop], records: new Map([['a', r]]), changes })))).length, 3);
});

test("a file's row is for its iteration, and its menu knows what was kept", async () => {
  const r = record(begin(1), end(1, 1));
  const files = [file('a.go'), file('b.go', { kept: true })];
  const nodes = (await all(roots(input({ loops: [loop], records: new Map([['a', r]]), changes: changed(new Map([[undefined, files], [1, files]])) })))).map((n) => n.node);
  const of = { loopId: 'a', folder: 'file:///w/app' };
  assert.deepEqual(nodes.filter((n) => n.opens).map((n) => [n.context, n.target]), [
    ['ralph.file open', { ...of, paths: ['a.go'] }], ['ralph.file kept', { ...of, paths: ['b.go'] }],
    ['ralph.file open iteration', { ...of, iteration: 1, paths: ['a.go'] }], ['ralph.file kept iteration', { ...of, iteration: 1, paths: ['b.go'] }],
  ]);
  assert.deepEqual(nodes.filter((n) => n.context?.startsWith('ralph.changes')).map((n) => n.target), [of, { ...of, iteration: 1 }]);
});

const pastLoop = (loopId: string): PastLoop => ({ loopId, folder: 'file:///w/b', title: 'Build X', startedAt: '2026-01-02T10:00:00Z', stopReason: 'promise', iterations: 1, durationMs: 0, sessionFileUri: '', text: 'done', class: 'ok' });

test('a past loop is read when it is opened, and has its changes', async () => {
  const read = () => Promise.resolve(record(begin(1), end(1, 1)));
  const nodes = roots(input({ past: [pastLoop('b')], read, changes: changed(new Map([[undefined, [file('a.go')]], [1, [file('a.go')]]])) }));
  assert.deepEqual((await draw(nodes)).slice(2), ['    All changes [so many files]', '      a.go [+3 -1]', '    Iteration 1 [ok · $0.31 · 1m01s]', '      a.go [+3 -1]']);
});

test('past loops are below, without the one that is shown above', () => {
  const nodes = roots(input({ loops: [loop], past: [pastLoop('a'), pastLoop('b')] }));
  assert.deepEqual(nodes.map((n) => `${n.label} ${n.description}`), ['app 2/5 · working', 'Past loops 1']);
});

test('ids are unique', async () => {
  const r = record(...[1, 2].flatMap((n) => [begin(n), edit('same', 'a'), done('same'), edit('same', 'a'), done('same'), end(n, 2)]));
  const files = [file('a'), file('b/a')];
  const changes = changed(new Map([[undefined, files], [1, files], [2, files]]));
  const ids = (await all(roots(input({ loops: [loop], records: new Map([['a', r]]), changes })))).map((n) => n.node.id);
  assert.equal(new Set(ids).size, ids.length);
});

test('loops in worktrees stand below their repository, by their titles, and say their branches', async () => {
  const inTree = (loopId: string, branch: string): LoopStatus => ({
    ...loop, loopId, title: `Build ${loopId}`, folder: `file:///w/app.worktrees/${loopId}`,
    worktree: { branch, repository: 'file:///w/my%20app', path: `file:///w/app.worktrees/${loopId}` },
  });
  const nodes = roots(input({ loops: [inTree('x', 'ralph/x'), loop, inTree('y', 'ralph/y')] }));
  assert.deepEqual(nodes.map((n) => n.label), [loop.title, 'my app']);
  const below = await nodes[1]!.children!();
  assert.deepEqual(below.map((n) => n.label), ['Build x', 'Build y']);
  assert.match(below[1]!.description!, / · ralph\/y$/);
  assert.match(below[0]!.context!, /^ralph\.loop .*\bworktree\b/);
  assert.doesNotMatch(nodes[0]!.context!, /worktree/);
  assert.equal(below[0]!.loop!.loopId, 'x');
});
