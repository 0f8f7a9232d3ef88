// What a page is believed, which files it opens, and how a long list is laid out.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { readMessage, readState } from '../../src/panel/messages';
import { rowsOf } from '../../src/panel/loopRows';
import { fileIn } from '../../src/panel/paths';
import { hasSecondarySideBar, remembered } from '../../src/panel/surface';
import type { LoopStatus, Update } from '../../src/wire';
import { Finder } from '../../webview/finder';
import { Heights } from '../../webview/heights';
import { partRows } from '../../webview/rows';
import { Store } from '../../webview/store';

const say = (text: string): Update => ({ sessionUpdate: 'agent_message_chunk', messageId: 'm', content: { type: 'text', text } });
const begin = (iteration: number): Update => ({ sessionUpdate: '_ralph/iteration', phase: 'begin', iteration });
const call = (toolCallId: string): Update => ({ sessionUpdate: 'tool_call', toolCallId, name: 'bash', title: 'ls', kind: 'execute', status: 'in_progress' });

test('messages of the page are believed only as far as they go', () => {
  const good = [
    { type: 'ready' }, { type: 'asText' }, { type: 'asTab' }, { type: 'act', command: 'ralph.next' }, { type: 'choose', loopId: 'ralph-1' }, { type: 'draft', text: '' }, { type: 'want', generation: 1, index: 0 }, { type: 'open', path: 'a.go', line: 3, column: undefined }, { type: 'changes', iteration: 2 },
    { type: 'offer', offer: { title: 'Resume', command: 'ralph.loop.resume', arguments: [{ loopId: 'x' }] } }, { type: 'find', search: 1, text: 'x' },
    { type: 'talk', title: 'Steer', text: 'Mind the\ngap' }, { type: 'chip', label: 'Agent' }, { type: 'mention', id: 2, text: '' }, { type: 'selection' },
  ];
  for (const m of good) assert.deepEqual(readMessage(m), m);
  const bad: unknown[] = [
    undefined, null, 'ready', [], {}, { type: 'eval' }, { type: 'want', generation: -1, index: 0 }, { type: 'want', generation: 1, index: 1.5 }, { type: 'open' }, { type: 'open', path: 3 },
    { type: 'open', path: 'x'.repeat(5000) }, { type: 'open', path: 'a', line: '1' }, { type: 'find', search: 1, text: 'x'.repeat(2000) }, { type: 'output', iteration: 1 }, { type: 'act' }, { type: 'act', command: '' }, { type: 'choose' }, { type: 'choose', loopId: '' }, { type: 'draft', text: 3 }, { type: 'draft', text: 'x'.repeat(1 << 21) }, { type: 'talk', title: 'Steer', text: '' }, { type: 'talk', text: 'x' }, { type: 'talk', title: 'Steer', text: 'x'.repeat(1 << 21) }, { type: 'chip' }, { type: 'mention', id: -1, text: 'x' },
    { type: 'offer', offer: { title: 'x', command: 'workbench.action.terminal.new' } }, { type: 'offer', offer: { title: 'x', command: 'ralph.loop.start', arguments: ['rm'] } }, { type: 'offer', offer: { command: 'ralph.loop.start' } },
  ];
  for (const m of bad) assert.equal(readMessage(m), undefined, JSON.stringify(m));
});

test('a tab behind others is remembered over each restart of the extension host, until it is closed', () => {
  const tab = (label: string) => ({ loopId: `ralph-${label}`, title: label, label });
  const [a, b, c] = [tab('A'), tab('B'), tab('C')];
  assert.deepEqual(remembered([a], [b], ['B', 'A']), [a, b]); // a can be seen, and is served again
  assert.deepEqual(remembered([], [a, b], ['A', 'B']), [a, b]);
  assert.deepEqual(remembered([c], [a, b], ['C', 'A']), [c, a]);
  assert.deepEqual(remembered([b, a], [b], ['A', 'B']), [b, a]); // what was revived is one
});

test('a row of the list of loops is read out as it is seen', () => {
  const loop: LoopStatus = { loopId: 'r', folder: 'file:///x', title: 'fix the parser', state: 'running', text: '3/50 · $1.42', line: '3/50 · $1.42 · bash go test', class: 'info', live: true, busy: true, owned: true };
  const asks: LoopStatus = { ...loop, loopId: 'q', state: 'waiting', line: '1/50 · asks: Bash ls', busy: false, questions: [{ id: '1', kind: 'permission', title: 'Bash ls' }] };
  const done: LoopStatus = { ...loop, loopId: 'd', state: 'ended', text: 'done · $2.79', line: undefined, class: 'ok', live: false, busy: false };
  const rows = rowsOf([asks, loop, { ...loop, loopId: 'p', state: 'paused', busy: false }, done, { ...loop, loopId: undefined }], 'd');
  assert.deepEqual(rows.map((r) => [r.loopId, r.mark, r.state, r.isShown]), [['q', 'asks', 'waiting', false], ['r', 'busy', 'running', false], ['p', 'waits', 'paused', false], ['d', 'ok', '', true]]);
  assert.deepEqual([rows[0]!.label, rows[3]!.label], ['fix the parser, waiting, 1/50 · asks: Bash ls', 'fix the parser, done · $2.79']);
});

test('only a VS Code that has the place shows the panel', () => {
  for (const version of ['1.106.0', '1.139.1', '1.106.0-insider', '2.0.0']) assert.equal(hasSecondarySideBar(version), true, version);
  for (const version of ['1.95.0', '1.100.3', '1.105.1', '0.200.0']) assert.equal(hasSecondarySideBar(version), false, version);
});

test('what a window left is read with the same care', () => {
  assert.deepEqual(readState({ loopId: 'r', folder: 'file:///x', title: 'app', place: { iteration: 3, toolCallId: 't1' } }), { loopId: 'r', folder: 'file:///x', title: 'app', place: { iteration: 3, toolCallId: 't1' } });
  assert.deepEqual(readState({ loopId: 'r', place: { iteration: 'x' } }), { loopId: 'r', folder: undefined, title: 'r', place: undefined });
  assert.equal(readState({ loopId: 'r', words: 'half a' })?.words, 'half a', 'what was being written');
  assert.equal(readState({ loopId: 'r', words: 3 })?.words, undefined);
  for (const s of [undefined, 'x', {}, { loopId: 3 }, { loopId: '' }]) assert.equal(readState(s), undefined);
});

test('a link opens files of the folder only, whatever it is called by', async () => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'ralph-paths-'));
  try {
    const [folder, outside] = [path.join(root, 'app'), path.join(root, 'outside.txt')];
    fs.mkdirSync(path.join(folder, 'src'), { recursive: true });
    fs.writeFileSync(path.join(folder, 'src/a.go'), '');
    fs.writeFileSync(outside, '');
    fs.symlinkSync(outside, path.join(folder, 'leads-out'));
    const file = path.join(fs.realpathSync(folder), 'src/a.go');
    for (const named of ['src/a.go', './src/../src/a.go', path.join(folder, 'src/a.go')]) assert.equal(await fileIn(folder, named), file);
    for (const named of ['../outside.txt', outside, 'leads-out', 'src', '.', '', 'none', '/etc/passwd', 'a\0b']) assert.equal(await fileIn(folder, named), undefined, named);
  } finally {
    fs.rmSync(root, { recursive: true });
  }
});

test('a list knows which rows are in view, before and after they are measured', () => {
  const heights = new Heights();
  heights.set(Array.from({ length: 1000 }, (_, i) => ({ key: `k${i}`, guess: 20 })));
  assert.deepEqual(heights.range(100, 159), [5, 8]);
  assert.equal(heights.total, 20_000);
  const anchor = heights.anchor(10_005)!;
  assert.deepEqual(anchor, { key: 'k500', offset: 5 });
  assert.equal(heights.measure([['k3', 120], ['k900', 10]]), true);
  assert.equal(heights.measure([['k3', 120]]), false);
  assert.equal(heights.find(anchor), 10_105, 'what is above grew, and the view stays where it was');
  assert.equal(heights.total, 20_090);
  heights.set([{ key: 'k500', guess: 20 }]);
  assert.equal(heights.find(anchor), 5);
  assert.equal(heights.find({ key: 'k3', offset: 0 }), undefined);
  assert.deepEqual(new Heights().range(0, 100), [0, 0]);
});

const parts = Array.from({ length: 30 }, (_, i) => ({ iteration: i + 1, bytes: 60_000 }));

test('parts that are not here are one item, and the farthest go when there is too much', () => {
  const store = new Store(parts);
  assert.equal(store.items().length, 30);
  for (let i = 0; i < 30; i++) store.take(i, [begin(i + 1), ...Array.from({ length: 40 }, () => say('x'.repeat(15_000) + '\n'))], 29);
  assert.equal(store.isHere(29), true);
  assert.equal(store.isHere(0), false);
  assert.equal(store.items()[0]!.key, '0');
});

test('a place is found, once its part is here', () => {
  const store = new Store(parts);
  assert.deepEqual(store.find({ iteration: 7, toolCallId: 't1' }), { read: 6 });
  store.take(6, [begin(7), say('x'), call('t1')], 6);
  const found = store.find({ iteration: 7, toolCallId: 't1' });
  assert.ok(found && 'key' in found);
  assert.equal(store.iterationOf(found.key), 7);
  store.add([begin(31), call('t1')]);
  const last = store.find({ iteration: 31, toolCallId: 't1' });
  assert.ok(last && 'key' in last && last.key.startsWith('30:'));
  assert.equal(store.find({ iteration: 99 }), undefined);
});

test('a result goes to its call in the part before, whichever is read first', () => {
  const result: Update = { sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed', content: [{ type: 'content', content: { type: 'text', text: 'late' } }] };
  const kinds = (store: Store) => store.items().map(({ key }) => store.row(key)).map((row) => (row?.kind === 'tool' ? `${row.status} ${row.output}` : row?.kind));
  for (const order of [[0, 1], [1, 0]]) {
    const store = new Store([{ iteration: 7, bytes: 1 }, { iteration: 7, bytes: 1 }]);
    for (const index of order) store.take(index, index === 0 ? [begin(7), call('t1')] : [result, say('x')], 0);
    assert.deepEqual(kinds(store), ['iteration', 'completed late', 'text']);
  }
  const live = new Store([{ iteration: 7, bytes: 1 }]);
  live.take(0, [begin(7), call('t1')], 0);
  assert.equal(live.running().length, 1, 'nobody knows of an end');
  live.add([result]);
  assert.deepEqual(kinds(live), ['iteration', 'completed late']);
  const over = new Store([{ iteration: 7, bytes: 1 }]);
  over.take(0, [begin(7), call('t1')], 0);
  over.close();
  assert.deepEqual(kinds(over), ['iteration', 'unknown ']);
});

test('the search finds in parts that are not here, and goes round', () => {
  assert.deepEqual(partRows(7, [begin(7), say('Needle'), call('t1')], 'needle', true), [1]);
  const finder = new Finder();
  finder.begin('needle');
  finder.add([[3, 1], [5, 0]]);
  assert.deepEqual([finder.go(1), finder.go(1), finder.go(1), finder.go(-1)].map((hit) => hit?.part), [3, 5, 3, 5]);
});
