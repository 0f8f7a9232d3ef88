// What package.json and can.ts must know of the loops that the server tells of.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { buttonsOf, canOf, doing, isPossible } from '../../src/can';
import { colours, iconOf, icons, notified } from '../../src/show';
import { bar, tooltip, tooltipCommands, type Model } from '../../src/statusText';
import { LoopRecord } from '../../src/loopRecord';
import { roots, type TreeInput } from '../../src/treeModel';
import { icons as drawn } from '../../webview/icons';
import type { Iteration, LoopStatus, PastLoop, Notice } from '../../src/wire';

declare const ROOT: string;
const read = (...parts: string[]) => JSON.parse(fs.readFileSync(path.join(ROOT, ...parts), 'utf8'));
const wire = (name: string) => read(`../../testdata/wire/${name}.json`);
const menus: Record<string, { command: string; when: string }[]> = read('package.json').contributes.menus;
const model = (l: LoopStatus): Model => ({ server: { state: 'running' }, loops: [l], records: new Map(), seen: new Set() });

const nothing = () => Promise.reject(new Error('nothing is asked'));
const tree = (more: Partial<TreeInput>): TreeInput => ({ loops: [], records: new Map(), past: [], read: nothing, changes: nothing, ...more });

/** Whether a menu shows a command for an item of the tree. */
function offers(command: string, context: string): boolean {
  const pattern = menus['view/item/context']?.find((m) => m.command === command && m.when.includes('ralph\\.loop'))?.when.match(/=~ \/(.*)\//)?.[1];
  return new RegExp(pattern ?? '^$').test(context);
}

/** What has forgotten something of a loop. */
function forgotten(l: LoopStatus): string[] {
  const forgot: string[] = [];
  const check = (knows: boolean, where: string) => { if (!knows) forgot.push(where); };
  check(bar(model(l)).text === `$(${iconOf(l)}) Ralph ${l.text}` && !bar(model(l)).idle, 'the status bar');
  const node = roots(tree({ loops: [l] }))[0]!;
  check(node.label === l.title && node.reveals === true && node.description!.includes(l.text!) && node.hover!().includes('| Now |'), 'the tree');
  const links = tooltip(model(l), 0);
  for (const { label } of l.details ?? []) check(links.includes(`| ${label.replaceAll(' ', '\u00a0')} |`), `the tooltip: ${label}`);
  for (const can of canOf(l)) {
    const { command } = doing(can) ?? {};
    check(Boolean(command), `can.ts: ${can}`);
    if (!command) continue;
    check(links.includes(`(command:${command}`) && tooltipCommands.includes(command), `the tooltip's link to ${can}`);
    if (['start', 'review', 'undo', 'again'].includes(can)) continue; // the first is of no loop, the others are there for every loop
    check(offers(command, node.context!), `the menu of the tree: ${can}`);
    check(menus.commandPalette!.some((m) => m.command === command && m.when.includes(`ralph.can.${can}`)), `the palette: ${can}`);
  }
  for (const m of menus['view/item/context']!.filter((m) => m.when.includes('\\b'))) {
    const named = canOf(l).some((can) => doing(can)?.command === m.command);
    check(named || m.command === 'ralph.continueInPi' || !offers(m.command, node.context!), `the menu has ${m.command}, which can't be done`);
  }
  check(offers('ralph.continueInPi', node.context!) === !l.busy, 'the menu of ralph.continueInPi');
  return forgot;
}

test('no place has forgotten a state', () => {
  const { loops }: { loops: LoopStatus[] } = wire('states');
  assert.ok(loops.length >= 8);
  assert.deepEqual(loops.flatMap((l) => forgotten(l).map((where) => `${l.state}: ${where}`)), []);
});

test('a transcript has buttons for what its own loop can do', () => {
  const { loops }: { loops: LoopStatus[] } = wire('states');
  const of = (l: LoopStatus) => buttonsOf(l).map((b) => b.label);
  const commands = { resume: 'Resume', pause: 'Pause', next: 'Next', cancel: 'Stop' };
  for (const l of loops.filter((one) => one.state !== 'ended')) assert.deepEqual(of(l), Object.entries(commands).flatMap(([can, label]) => (canOf(l).includes(can) ? [label] : [])), l.state);
  const running = loops.find((l) => l.state === 'running')!;
  assert.deepEqual(of(running), ['Pause', 'Next', 'Stop']);
  assert.deepEqual(of(loops.find((l) => l.state === 'paused')!), ['Resume', 'Stop']);
  assert.deepEqual(of(loops.find((l) => l.state === 'cancelling')!), [], 'it is ending');
  const ended = loops.find((l) => l.state === 'ended')!;
  assert.deepEqual(of(ended), ['Resume', 'Review changes', 'Undo changes...', 'Start again']);
  assert.deepEqual(of({ ...ended, can: [], host: 'box-1' }), [], 'its files are on another machine');
  assert.deepEqual(buttonsOf({ loopId: 'p', title: 'p', startedAt: '2026-01-01T00:00:00Z', text: 'done', class: 'ok', can: ['review', 'undo'] } as PastLoop).map((b) => b.label), ['Review changes', 'Undo changes...'], 'the folder has had another loop since');
  assert.deepEqual(buttonsOf(undefined), []);
  for (const { title, label, icon } of loops.flatMap(buttonsOf)) {
    assert.ok(title.toLowerCase().includes(label.toLowerCase()), `${title} is what is read out, ${label} what is seen`);
    assert.ok(drawn[icon], `the page has no icon ${icon}`);
  }
});

test('a loop in the list leaves room for how it stands, and says all of its title in the hover', () => {
  const [running] = (wire('states').loops as LoopStatus[]).filter((l) => l.state === 'running');
  const title = 'make every test of the parser pass, one after another';
  const [node] = roots(tree({ loops: [{ ...running!, title }] }));
  assert.deepEqual([node!.label, node!.description], ['make every test of the pars…', running!.text]);
  assert.ok(node!.hover!().includes(title));
});

test('what was offered is there as long as its loop can do it', () => {
  const { loops }: { loops: LoopStatus[] } = wire('states');
  const offered = loops.flatMap((l) => (l.offers ?? []).filter((o) => !isPossible(o, canOf(l))).map((o) => `${l.state} ${o.title}`));
  assert.deepEqual(offered, [], 'the server offers what can be done');
  const titles = (can: string[]) => ['Resume', 'Discard', 'Run Doctor'].filter((title, n) => isPossible({ title, command: ['ralph.loop.resume', 'ralph.loop.cancel', 'ralph.doctor'][n]! }, can));
  assert.deepEqual(titles(['resume', 'discard', 'open']), ['Resume', 'Discard', 'Run Doctor']);
  assert.deepEqual(titles(['start']), ['Run Doctor'], 'it was discarded');
});

test('what an ended loop was allowed has nothing to take back', async () => {
  const { loops }: { loops: LoopStatus[] } = wire('states');
  const allowed = [{ rule: 'Bash(ls)', text: 'Bash(ls)', offers: [{ title: 'Take Back', command: 'ralph.loop.update', arguments: [{}] }] }];
  for (const state of ['running', 'ended']) {
    const l = { ...loops.find((one) => one.state === state)!, allowed };
    const row = (await roots(tree({ loops: [l], changes: () => Promise.resolve(undefined) }))[0]!.children!()).find((n) => n.label === 'Bash(ls)')!;
    assert.deepEqual([row.context, Boolean(row.offer)], state === 'running' ? ['ralph.allowed', true] : [undefined, false], state);
  }
});

test('a loop of another machine stands below its repository, and is offered what can be done from here', async () => {
  const [local] = (wire('states').loops as LoopStatus[]).filter((l) => l.state === 'ended');
  const far = (loopId: string, more: Partial<LoopStatus>): LoopStatus => ({ ...local!, loopId, folder: `file:///seen/${loopId}`, title: loopId, text: 'done', can: [], host: 'box-1', owned: false, worktree: undefined, ...more });
  const offers = [{ title: 'Fetch', command: 'ralph.loop.fetch' }];
  const record = new LoopRecord('f1');
  record.outline([{ sessionUpdate: '_ralph/iteration', phase: 'end', iteration: 1, text: 'ok', changes: { files: 1 } } as Iteration]);
  const input = tree({
    loops: [far('f1', { origin: 'file:///w/app', offers, can: ['fetch'] }), far('f2', { host: 'fleet' }), { ...far('w1', { host: undefined }), worktree: { branch: 'b', repository: 'file:///w/app', path: 'file:///w/t' } }],
    records: new Map([['f1', record]]), read: () => Promise.resolve(record),
    changes: () => Promise.resolve({ loopId: 'f1', folder: 'file:///seen/f1', from: 0, text: '1 file', class: 'info' as const, iterations: [], files: [{ path: 'a.go', uri: 'file:///seen/f1/a.go', status: 'modified' as const, added: 1, removed: 0, text: '+1' }] }),
  });
  const groups = roots(input);
  assert.deepEqual(groups.map((n) => [n.label, n.description]), [['app', 'worktrees · fleet'], ['Fleet', '']]);
  const [first, tree1] = await groups[0]!.children!();
  assert.deepEqual([first!.label, first!.description, first!.expanded, tree1!.label], ['f1', `done${local!.backend ? ` · ${local!.backend.name}` : ''} · box-1`, false, 'w1']);
  assert.ok((await groups[1]!.children!())[0]!.description!.startsWith('done'), 'nobody has had it');
  const has = (command: string, context: string) => menus['view/item/context']!.some((m) => m.command === command && new RegExp(m.when.match(/=~ \/(.*)\//)?.[1] ?? '^$').test(context));
  assert.deepEqual(['ralph.fetch', 'ralph.openSession', 'ralph.continueInPi', 'ralph.land', 'ralph.openStateFile', 'ralph.openWorktree'].filter((c) => has(c, first!.context!)), ['ralph.fetch']);
  const rows = await first!.children!();
  const files = await rows[0]!.children!();
  assert.deepEqual([...rows, ...files].map((n) => n.label), ['All changes', 'Iteration 1', 'a.go']);
  for (const row of [...rows, ...files]) {
    const what = ['ralph.openChanges', 'ralph.keepChanges', 'ralph.undoChanges', 'ralph.reviewAgain', 'ralph.openFile', 'ralph.compareWithFile'].filter((c) => has(c, row.context!));
    assert.deepEqual(what, ['ralph.openChanges'], row.label);
  }
});

test('what is to be told wherever the user looks pops up, and nothing else', () => {
  const files = fs.readdirSync(path.join(ROOT, '../../testdata/wire')).filter((f) => f.startsWith('update-'));
  assert.ok(files.length >= 20);
  for (const name of files.map((f) => path.parse(f).name)) {
    const update = wire(name);
    assert.equal(notified(update), update.notify && update.sessionUpdate !== '_ralph/end' ? update : undefined, name);
  }
});

test('no place has forgotten a reason for which loops end', async () => {
  const endings: { stopReason: string; class: string; end: Notice; status: LoopStatus; past: PastLoop }[] = wire('endings');
  assert.ok(endings.length >= 12);
  for (const { stopReason, end, status, past } of endings) {
    assert.deepEqual(forgotten(status), [], stopReason);
    assert.ok(Object.hasOwn(colours, end.class!) && icons[end.class!], stopReason);
    const node = (await roots(tree({ past: [past] }))[0]!.children!())[0]!;
    assert.ok(node.description!.includes(past.text) && node.icon === icons[past.class], stopReason);
    for (const { title, command } of end.offers ?? []) {
      assert.ok(title && (wire('names').commands as string[]).includes(command), `${stopReason}: ${command}`);
    }
  }
});
