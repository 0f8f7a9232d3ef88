// Which rows of the tree are drawn again, and which are open.
import assert from 'node:assert/strict';
import test from 'node:test';
import { LoopRecord } from '../../src/loopRecord';
import type { Node, TreeInput } from '../../src/treeModel';
import { Rows } from '../../src/treeRows';
import type { LoopStatus, Update } from '../../src/wire';

const status = (text: string): LoopStatus => ({ loopId: 'a', folder: 'file:///w/app', title: 'app', state: 'running', text, line: text, class: 'info', live: true, busy: true, owned: true });
const begin = (iteration: number): Update => ({ sessionUpdate: '_ralph/iteration', phase: 'begin', iteration });
const end = (iteration: number): Update => ({ sessionUpdate: '_ralph/iteration', phase: 'end', iteration, text: 'ok', class: 'ok', changes: { files: 0 } } as Update);
const call = (id: string): Update => ({ sessionUpdate: 'tool_call', toolCallId: id, name: 'bash', title: `echo ${id}`, kind: 'execute', status: 'in_progress' });
const done = (id: string): Update => ({ sessionUpdate: 'tool_call_update', toolCallId: id, status: 'completed' });

/** A view with all rows open that are open by themselves, as the editor shows it. */
class View {
  readonly record = new LoopRecord('a');
  readonly input: TreeInput = { loops: [status('1/9')], records: new Map([['a', this.record]]), past: [], read: () => Promise.reject(new Error('not asked for')), changes: () => Promise.resolve(undefined) };
  readonly rows = new Rows(() => this.input);
  drawn: string[] = [];
  lines: string[] = [];

  /** Draws what changed, or all. Rows below one that is drawn are read again. */
  async refresh(): Promise<void> {
    const changed = this.rows.changed();
    this.drawn.push(...(changed ?? [{ label: 'all' }]).map((n) => n.label));
    await this.read();
  }

  async read(): Promise<void> {
    this.lines = [];
    await this.open(await this.rows.children(), '');
  }

  private async open(nodes: Node[], indent: string): Promise<void> {
    for (const n of nodes) {
      this.lines.push(`${indent}${n.label}`);
      if (n.expanded) await this.open(await this.rows.children(n), `${indent}  `);
    }
  }
}

async function running(...updates: Update[]): Promise<View> {
  const v = new View();
  v.record.add(updates);
  await v.rows.changed();
  await v.read();
  return v;
}

test('the row of an iteration names its hat, from its begin on', async () => {
  const describe = async (...updates: Update[]) => {
    const v = await running(...updates);
    const [loop] = await v.rows.children();
    return (await v.rows.children(loop))[0]?.description;
  };
  const hat = { sessionUpdate: '_ralph/iteration', iteration: 1, hat: 'builder' } as const;
  assert.equal(await describe({ ...hat, phase: 'begin' }), 'builder · running');
  assert.equal(await describe({ ...hat, phase: 'begin' }, { ...hat, phase: 'end', text: 'builder · ok', facts: 'ok' } as Update), 'builder · ok');
});

test('a row that changes is drawn alone', async () => {
  const v = await running(begin(1), end(1), begin(2), call('t1'));
  const draws = async (change: () => void) => {
    v.drawn = [];
    change();
    await v.refresh();
    return v.drawn;
  };
  assert.deepEqual(await draws(() => undefined), []);
  assert.deepEqual(await draws(() => v.record.add([done('t1')])), ['echo t1']);
});

test('in a flood only the rows are drawn that differ', async () => {
  const v = await running(begin(1), end(1), begin(2));
  v.drawn = [];
  for (let burst = 0; burst < 50; burst++) {
    for (let i = 0; i < 100; i++) v.record.add([call(`${burst} ${i}`), done(`${burst} ${i}`)]);
    await v.refresh();
  }
  assert.deepEqual(v.drawn, Array.from({ length: 50 }, () => 'Iteration 2'), 'one for each refresh, and neither the whole tree nor its loop');
  v.drawn = [];
  v.input.loops = [status('2/9 · $1.00')];
  await v.refresh();
  assert.deepEqual(v.drawn, ['app']);
});

test('an iteration folds when the next one begins', async () => {
  const v = await running(begin(1), call('t1'), done('t1'));
  assert.deepEqual(v.lines, ['app', '  Iteration 1', '    echo t1']);
  const before = (await v.rows.children((await v.rows.children())[0]))[0]!;
  v.record.add([end(1), begin(2), call('t1')]);
  await v.refresh();
  assert.deepEqual(v.lines, ['app', '  Iteration 2', '    echo t1', '  Iteration 1']);
  const after = (await v.rows.children((await v.rows.children())[0])).at(-1)!;
  assert.notEqual(after.id, before.id, 'the editor remembers by its id that a row is open');
});

test('a loop that comes draws all, and nothing is drawn twice', async () => {
  const v = await running(begin(1));
  v.drawn = [];
  v.input.loops = [...v.input.loops, { ...status('1/3'), loopId: 'b', title: 'other' }];
  await v.refresh();
  await v.refresh();
  assert.deepEqual(v.drawn, ['all']);
});

test('what a loop asks and what it was allowed are rows of it, which come and go', async () => {
  const v = await running(begin(1));
  const asking = { ...status('1/9'), questions: [{ id: 'q1', kind: 'permission' as const, title: 'Bash rm -rf build' }], allowed: [{ rule: 'Bash(go test:*)', text: 'Bash(go test:*)', offers: [{ title: 'Take Back', command: 'ralph.loop.update' }] }] };
  v.input.loops = [asking];
  await v.refresh();
  assert.deepEqual(v.lines, ['app', '  Bash rm -rf build', '  Bash(go test:*)', '  Iteration 1']);
  v.input.loops = [status('1/9')];
  await v.refresh();
  assert.deepEqual(v.lines, ['app', '  Iteration 1']);
});
