import assert from 'node:assert/strict';
import test from 'node:test';
import { LoopRecord, undo } from '../../src/loopRecord';
import { roots, type Node } from '../../src/treeModel';
import type { LoopStatus, ToolCall, Update } from '../../src/wire';

const edit = (id: string, path: string, rawInput: unknown): ToolCall => ({ sessionUpdate: 'tool_call', toolCallId: id, name: 'edit', title: path, kind: 'edit', status: 'in_progress', locations: [{ path }], rawInput });
const done = (id: string, status: 'completed' | 'failed' = 'completed'): Update => ({ sessionUpdate: 'tool_call_update', toolCallId: id, status });
const begin = (iteration: number): Update => ({ sessionUpdate: '_ralph/iteration', phase: 'begin', iteration });
const end = (iteration: number): Update => ({ sessionUpdate: '_ralph/iteration', phase: 'end', iteration, text: 'ok · $0.31 · 1m01s', class: 'ok' });

function record(...updates: Update[]): LoopRecord {
  const r = new LoopRecord('a');
  r.add(updates);
  return r;
}

test('changes are those of calls that went well', () => {
  const r = record(begin(1), edit('t1', 'a.go', {}), done('t1'), edit('t2', 'b.go', {}), done('t2', 'failed'), edit('t3', 'c.go', {}), end(1));
  assert.deepEqual(r.files(), ['a.go']);
});

test('edits are read as pi and as claude write them', () => {
  const r = record(begin(1), edit('t1', 'a', { edits: [{ oldText: 'x', newText: 'y' }] }), done('t1'), edit('t2', 'a', { old_string: 'p', new_string: 'q' }), done('t2'), edit('t3', 'a', { content: 'all' }), done('t3'));
  assert.deepEqual(r.changes.map((c) => c.edits), [[{ before: 'x', after: 'y' }], [{ before: 'p', after: 'q' }], []]);
});

test('undo goes back to what was', () => {
  const r = record(begin(1), edit('t1', 'a', { edits: [{ oldText: '1', newText: '2' }, { oldText: '2', newText: '3' }] }), done('t1'), edit('t2', 'a', { oldText: '3', newText: '4' }), done('t2'));
  assert.equal(undo('a 4 b', r.changes), 'a 1 b');
});

const undone: { name: string; now: string; input: object }[] = [
  { name: 'is another one now', now: 'other', input: { oldText: 'x', newText: 'y' } },
  { name: 'was written whole', now: 'all', input: { content: 'all' } },
  { name: 'was deleted', now: 'head\ntail\n', input: { oldText: 'DELETE ME\n', newText: '' } },
  { name: 'stands earlier, too', now: 'y\ny\n', input: { oldText: 'x', newText: 'y' } },
  { name: 'was in several places', now: 'x\ny\n', input: { oldText: 'x', newText: 'y' } },
  { name: 'was replaced everywhere', now: 'y', input: { old_string: 'x', new_string: 'y', replace_all: true } },
];
for (const { name, now, input } of undone) {
  test(`undo makes nothing up where the text ${name}`, () => {
    assert.equal(undo(now, record(begin(1), edit('t1', 'a', input), done('t1')).changes), undefined);
  });
}

test('changes that are no longer kept are known to be missing', () => {
  const some = (n: number) => record(begin(1), ...Array.from({ length: n }, () => [edit('t', 'a', {}), done('t')]).flat());
  assert.deepEqual([some(2000).incomplete, some(2001).incomplete], [false, true]);
});

test('an interrupted iteration begins again in its place', () => {
  const cancelled: Update = { sessionUpdate: '_ralph/iteration', phase: 'end', iteration: 2, text: 'cancelled', class: 'info' };
  for (const last of [[cancelled], []]) {
    const r = record(begin(1), end(1), begin(2), edit('t1', 'a', {}), done('t1'), ...last, begin(2));
    assert.deepEqual(r.iterations.map((i) => [i.number, i.running, i.tools.length]), [[1, false, 0], [2, true, 0]]);
    assert.deepEqual(r.files(), ['a'], 'what was changed stays known');
  }
});

test('nothing runs on after an iteration or an interruption', () => {
  for (const over of [(r: LoopRecord) => r.add([end(1)]), (r: LoopRecord) => r.interrupted(), (r: LoopRecord) => r.add([begin(2)])]) {
    const r = record(begin(1), edit('t1', 'a', {}));
    const first = r.iterations[0];
    over(r);
    assert.deepEqual([first?.running, first?.tools[0]?.status], [false, 'failed']);
    r.add([done('t1')]); // of another iteration: ids begin again there
    assert.equal(first?.tools[0]?.status, 'failed');
  }
});

test('only the last tool calls of an iteration are kept', () => {
  const r = record(begin(1), ...Array.from({ length: 1000 }, (_, i) => [edit(`t${i}`, `f${i}`, {}), done(`t${i}`)]).flat());
  assert.equal(r.iterations[0]?.tools.length, 200);
  assert.equal(r.iterations[0]?.forgotten, 800);
});

const loop: LoopStatus = { loopId: 'a', folder: 'file:///w/app', title: 'app', state: 'running', line: '2/5 · working', class: 'info', live: true, busy: true, can: ['pause'], owned: true };
const draw = (nodes: Node[], depth = 0): string[] => nodes.flatMap((n) => [`${'  '.repeat(depth)}${n.label}${n.description ? ` [${n.description}]` : ''}`, ...draw(n.children?.() ?? [], depth + 1)]);

test('the tree has the newest iteration first, with its files before its calls', () => {
  const r = record(begin(1), edit('t1', 'src/a.go', {}), done('t1'), end(1), begin(2));
  assert.deepEqual(draw(roots({ loops: [loop], records: new Map([['a', r]]), past: [] })), [
    'app [2/5 · working]', '  Iteration 2 [running]', '  Iteration 1 [ok · $0.31 · 1m01s]', '    a.go [src]', '    src/a.go [edit]',
  ]);
});

test("a file's row is for its iteration, a past loop's for its folder", () => {
  const r = record(begin(1), edit('t1', 'a.go', {}), done('t1'), end(1), begin(2));
  const past = [{ loopId: 'b', folder: 'file:///w/b', title: 'Build X', startedAt: '2026-01-02T10:00:00Z', text: 'done', class: 'ok' as const }];
  const all = (nodes: Node[]): Node[] => nodes.flatMap((n) => [n, ...all(n.children?.() ?? [])]);
  const nodes = all(roots({ loops: [loop], records: new Map([['a', r]]), past }));
  assert.deepEqual(nodes.find((n) => n.file)?.file, { loopId: 'a', path: 'a.go', iteration: 1 });
  assert.deepEqual(nodes.find((n) => n.id === 'past/b')?.loop, { loopId: 'b', folder: 'file:///w/b' });
});

test('past loops are below, without the one that is shown above', () => {
  const past = (loopId: string) => ({ loopId, title: 'Build X', startedAt: '2026-01-02T10:00:00Z', text: 'done', class: 'ok' as const });
  const nodes = roots({ loops: [loop], records: new Map(), past: [past('a'), past('b')] });
  assert.deepEqual(nodes.map((n) => `${n.label} ${n.description}`), ['app 2/5 · working', 'Past loops 1']);
});

test('ids are unique', () => {
  const r = record(...[1, 2].flatMap((n) => [begin(n), edit('same', 'a', {}), done('same'), edit('same', 'a', {}), done('same'), end(n)]));
  const ids = (nodes: Node[]): string[] => nodes.flatMap((n) => [n.id, ...ids(n.children?.() ?? [])]);
  const all = ids(roots({ loops: [loop], records: new Map([['a', r]]), past: [] }));
  assert.equal(new Set(all).size, all.length);
});
