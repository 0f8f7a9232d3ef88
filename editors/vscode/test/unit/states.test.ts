// Every state of the wire has to be known wherever states are told apart.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { isLeft, isLive, stateText } from '../../src/loopText';
import { factsOf, states } from '../../src/states';
import { bar, tooltip, type Model } from '../../src/statusText';
import { roots } from '../../src/treeModel';
import type { LoopStatus } from '../../src/wire';

declare const ROOT: string;
const read = (...parts: string[]) => fs.readFileSync(path.join(ROOT, ...parts), 'utf8');
const loops: LoopStatus[] = JSON.parse(read('../../testdata/wire/states.json')).loops;
const menus: { command: string; when: string }[] = JSON.parse(read('package.json')).contributes.menus['view/item/context'];
const model = (l: LoopStatus): Model => ({
  server: { state: 'running' }, loops: [l], activity: new Map(), quiet: new Set(), seen: new Set(), pausing: new Set(), iterationCosts: new Map(),
});

/** Whether a menu shows a command for an item of the tree. */
function offers(command: string, context: string): boolean {
  return menus.some((m) => {
    if (m.command !== command) return false;
    const [, exact, pattern] = /viewItem (?:== (\S+)|=~ \/(.*)\/)/.exec(m.when) ?? [];
    return exact ? exact === context : new RegExp(pattern ?? '^$').test(context);
  });
}

test('the states are those of the wire', () => {
  assert.deepEqual(Object.keys(states).sort(), ['idle', ...loops.map((l) => l.state)].sort());
});

test('no place has forgotten a state', () => {
  assert.ok(loops.length >= 8);
  const forgot: string[] = [];
  for (const l of loops) {
    const check = (knows: boolean, where: string) => { if (!knows) forgot.push(`${where} has forgotten the state ${l.state}`); };
    const facts = factsOf(l);
    check(facts !== states.idle, 'states.ts');
    check(isLive(l) !== (isLeft(l) || l.state === 'ended'), 'isLive or isLeft');
    check(bar(model(l), 0).text.includes(`$(${facts.icon}) Ralph `) && !bar(model(l), 0).idle, 'the status bar');
    const node = roots({ loops: [l], records: new Map(), past: [], pausing: new Set() })[0]!;
    check(node.icon === facts.icon && node.description!.includes(stateText(l)), 'the tree');
    const links = tooltip(model(l), 0);
    for (const command of facts.commands) {
      const id = `ralph.${command === 'discard' ? 'cancel' : command}`;
      check(links.includes(`(command:${id}`), `the tooltip's link to ${id}`);
      const inMenu = l.state === 'starting' && command === 'pause' ? true : command === 'start' || offers(id, node.context!);
      check(inMenu, `the menu of ${id} in package.json`);
    }
    if (isLeft(l)) for (const id of ['ralph.openStateFile', 'ralph.continueInPi']) check(offers(id, node.context!), `the menu of ${id} in package.json`);
    const key = isLeft(l) || l.state === 'paused' ? `'ralph.${l.state}'` : isLive(l) ? "'ralph.running'" : "'ralph.resumable'";
    check(read('src/contextKeys.ts').includes(key), 'contextKeys.ts');
  }
  assert.deepEqual(forgot, []);
});
