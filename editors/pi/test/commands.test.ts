import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandIn, listOfCommands, shortened } from '../src/commands.ts';
import type { Ralph } from '../src/ralph.ts';
import type { Command } from '../src/wire.ts';

test('a description is cut where one of its parts ends', () => {
  assert.equal(shortened('How it stands', 20), 'How it stands');
  assert.equal(shortened('Tell it something; --once one run', 20), 'Tell it something');
  assert.equal(shortened('Run it: again; and again', 20), 'Run it: again');
  assert.equal(shortened('Without an end of a part', 10), 'Without an');
});

test('the help fits a screen of 80 columns and 24 lines beside the editor and the footer, and begins with the start of a loop', () => {
  const lines = listOfCommands().split('\n');
  assert.match(lines[0] ?? '', /^- `\/ralph-loop` Run a prompt/);
  assert.ok(lines.length <= 17, `${lines.length} lines`);
  for (const line of lines) assert.ok(line.length <= 78, line);
});

test('an undo that every file refuses offers to merge them', async () => {
  const refused = { text: 'a.txt is left as it is: both sides changed it' };
  const merge = { title: 'Merge with Markers', command: 'ralph.undo' };
  const said: string[] = [], offered: string[] = [];
  const ralph = {
    target: async () => ({ folder: 'file:///f' }),
    run: async (_: string, { dryRun }: { dryRun?: boolean }, present: (result: unknown) => void) =>
      present({ text: 'nothing undone', undone: [], refused: [dryRun ? refused : { ...refused, offers: [merge] }] }), // a dry run offers nothing
    say: (text: string) => said.push(text),
    choose: async (_: string, offers: Command[]) => offered.push(...offers.map((offer) => offer.title)),
  };
  await commandIn('/ralph-undo\n2')?.run(ralph as unknown as Ralph, '2');
  assert.deepEqual(offered, [`Merge with Markers: ${refused.text}`]);
  assert.deepEqual(said, [`nothing undone\n${refused.text}`]);
});
