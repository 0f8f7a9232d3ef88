import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listOfCommands, shortened } from '../src/commands.ts';

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
