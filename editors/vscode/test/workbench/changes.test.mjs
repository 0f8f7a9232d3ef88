// What a loop changed, as its user reviews it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, it as test } from 'node:test';
import { clicked, notes, until, Workbench } from './world.mjs';

describe('what a loop changed in the workbench', { timeout: 1_800_000 }, () => {
  let w;
  const text = (name) => fs.readFileSync(w.file(name), 'utf8');
  before(async () => {
    w = await Workbench.open({
      files: {
        'PROMPT.md': 'do 2\n', 'notes.txt': 'empty\n', 'gone.txt': 'gone\n',
        'do-1.sh': 'sed -i "s/step 1: open/step 1: done/" notes.txt; rm gone.txt\n', 'do-2.sh': 'sed -i "s/step 3: open/step 3: done/; s/step 5: open/step 5: done/" notes.txt; echo made > made.txt\n',
      },
      keybindings: [{ key: 'ctrl+alt+r', command: 'ralph.start', args: { promptFile: 'PROMPT.md', completionPromise: 'DONE' } }],
    });
  });
  after(() => w?.close());
  const it = (name, body) => test(name, () => w.step(name, body));
  const scm = (row) => w.page.locator('.scm-view .monaco-list-row').filter({ hasText: row }).first();
  const inline = async (row, title, timeout) => {
    await row.hover({ timeout });
    await row.getByRole('button', { name: title }).first().click({ timeout });
  };
  const blocks = (n) => until(`${n} changes`, async () => (await w.page.locator('.dirty-diff-glyph.dirty-diff-modified').count()) === n);
  const dialog = () => w.page.locator('.monaco-dialog-box');

  it('is in the gutter of an editor that was open before', async () => {
    await w.openFile('notes.txt');
    // VS Code never shows what changes before it watches the folder, and a new window does so after a while.
    await w.pressUntil(w.page.locator('.view-line').filter({ hasText: 'step 5' }), async () => fs.writeFileSync(w.file('notes.txt'), notes));
    await w.key('Control+Alt+r');
    await w.statusIs(/Ralph done/);
    await blocks(3);
    await w.screenshot('gutter');
  });

  it('goes back, and is kept, block by block', async () => {
    await w.page.keyboard.press('Control+Home');
    await w.page.keyboard.press('Alt+F3');
    await w.page.locator('.peekview-widget .line-delete').first().waitFor();
    await w.screenshot('peek');
    await w.page.locator('.peekview-actions').getByLabel('Revert Change').click();
    const left = notes.replace('step 3: open', 'step 3: done').replace('step 5: open', 'step 5: done');
    await until('the file', () => text('notes.txt') === left);
    await blocks(2);
    const keep = w.page.locator('.peekview-actions').getByLabel('Keep Change');
    // The editor closes it where the blocks are counted anew meanwhile. A click that may have been lost is told by what is kept.
    const kept = async () => (await w.page.locator('.dirty-diff-glyph.dirty-diff-modified').count()) === 1;
    await until('the change is kept', async (timeout) => {
      if (!(await keep.isVisible())) await w.page.keyboard.press('Alt+F3');
      return (await clicked(keep, timeout)) && until('one change is left', kept, 30_000).then(() => true, () => false);
    });
    await blocks(1);
    assert.equal(text('notes.txt'), left);
  });

  it('is to be reviewed in source control', async () => {
    await w.page.keyboard.press('Control+Shift+G');
    for (const row of ['notes.txt', 'made.txt', 'gone.txt', 'To Review']) await scm(row).waitFor();
    await w.pressUntil(w.page.locator('.monaco-diff-editor .line-insert'), (timeout) => scm('made.txt').click({ timeout }));
    await w.screenshot('source-control');
    await w.pressUntil(scm('Kept'), (timeout) => inline(scm('made.txt'), 'Keep Changes', timeout));
    await until('the badge', async () => /Source Control.*2/.test(await w.page.locator('.activitybar .action-item', { has: w.page.locator('[class*=source-control]') }).first().innerHTML()));
  });

  it('is undone from its row, when the user agrees, and redone', async () => {
    await w.pressUntil(dialog().filter({ hasText: '1 file would be undone' }), (timeout) => inline(scm('gone.txt'), 'Undo Changes', timeout));
    await w.screenshot('undo');
    await dialog().getByRole('button', { name: 'Undo', exact: true }).click();
    await until('the file is back', () => fs.existsSync(w.file('gone.txt')));
    await w.press('1 file undone', 'Redo');
    await until('the file is gone again', () => !fs.existsSync(w.file('gone.txt')));
    await w.told('1 file redone');
  });

  it('is in the tree, by iteration, with the file itself on the right of a diff', async () => {
    await w.run('Ralph: Focus on Loops View');
    await w.treeRow('All changes').waitFor();
    await w.openRow('made.txt', w.page.locator('.tab.active').filter({ hasText: 'made.txt (iteration 2)' }));
    await w.screenshot('tree-changes');
    await w.pressUntil(w.page.locator('.multiDiffEntry').filter({ hasText: 'notes.txt' }), (timeout) => inline(w.treeRow('Iteration 2'), 'Open Changes', timeout));
    await w.screenshot('many-files');
  });

  it('shows all files again after a reload of the window', async () => {
    await w.run('View: Close All Editors');
    await w.pressUntil(w.page.locator('.multiDiffEntry'), (timeout) => inline(w.treeRow('All changes'), 'Open Changes', timeout));
    const names = ['gone.txt', 'made.txt', 'notes.txt'];
    const shown = async () => (await Promise.all(names.map((name) => w.page.locator('.multiDiffEntry').filter({ hasText: name }).count()))).join(' ');
    await until('all three', async () => (await shown()) === '1 1 1');
    await w.page.evaluate(() => (window.isOld = true));
    await w.run('Developer: Reload Window'); // that way the window keeps what it knows
    await w.page.waitForFunction(() => !window.isOld);
    await w.page.locator('.multiDiffEntry').first().waitFor();
    await until('all three again', async () => (await shown()) === '1 1 1');
    await w.screenshot('review-after-reload');
  });

  it('is undone for the whole loop from the palette', async () => {
    await w.run('Ralph: Undo Changes...');
    await dialog().filter({ hasText: 'would be undone' }).waitFor();
    await dialog().getByRole('button', { name: 'Undo', exact: true }).click();
    await until('all is back', () => fs.existsSync(w.file('gone.txt')) && !fs.existsSync(w.file('made.txt')) && text('notes.txt') === notes);
    assert.ok(fs.existsSync(w.file('do-1.sh')));
  });
});
