import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, it as test } from 'node:test';
import { notes, until, Workbench } from './world.mjs';

describe('a loop in the workbench', { timeout: 1_800_000 }, () => {
  let w;
  before(async () => {
    w = await Workbench.open({
      files: { 'PROMPT.md': 'count 3\n', 'notes.txt': notes, 'README.md': '# app\n' },
      keybindings: [
        { key: 'ctrl+alt+r', command: 'ralph.start', args: { prompt: 'wait', maxIterations: 7 } },
        { key: 'ctrl+alt+k', command: 'ralph.start', args: { prompt: 'wait', maxIterations: 8, onClose: 'keep' } },
      ],
      trust: true, settings: { 'ralph.transcript.openOnStart': true },
    });
  });
  after(() => w?.close());
  const it = (name, body) => test(name, () => w.step(name, body));

  it('does nothing before the folder is trusted', async () => {
    const dialog = w.page.locator('.monaco-dialog-box');
    await dialog.waitFor();
    await dialog.getByRole('button', { name: /^No/ }).click();
    await dialog.waitFor({ state: 'hidden' });
    await w.run('Ralph: Focus on Loops View');
    const why = w.page.locator('.welcome-view-content').filter({ hasText: "This folder isn't trusted" });
    await why.waitFor();
    await w.screenshot('untrusted');
    assert.equal(w.sidecars().length, 0);
    await why.getByRole('button', { name: 'Manage Workspace Trust' }).click();
    await w.page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
    await w.page.locator('.welcome-view-content').filter({ hasText: 'An agent gets the same prompt' }).waitFor();
    await w.run('View: Close All Editors');
  });

  it('has its commands in the palette', async () => {
    const isThere = async (title) => {
      await w.palette(title);
      const rows = (await w.rows()).join('\n');
      await w.page.keyboard.press('Escape');
      return rows.includes(title);
    };
    for (const title of ['Ralph: Start Loop...', 'Ralph: Doctor']) await until(title, () => isThere(title));
    for (const title of ['Ralph: Cancel Loop', 'Ralph: Undo Changes...', 'Ralph: Show Output']) assert.equal(await isThere(title), false, title);
  });

  it('starts from the prompt\'s editor and shows the run in the status bar', async () => {
    const stop = await w.recordStatus();
    await w.newPrompt(); // left empty, PROMPT.md is the prompt
    await w.lens('at most 50 iterations').click();
    await w.answer('Ralph: limits', '5');
    await w.lens('no promise').click();
    await w.answer('Ralph: promise', 'DONE');
    await w.lens('DONE').waitFor();
    await w.focusEditor();
    await w.page.keyboard.press('Control+Enter');
    await w.statusIs(/Ralph done · \$2\.79/);
    const texts = await stop();
    assert.ok(texts.some((t) => /1\/5/.test(t)) && texts.some((t) => /3\/5 · \$/.test(t)), JSON.stringify(texts));
    assert.match(await w.status().locator('a').getAttribute('aria-label'), /Ralph done/);
  });

  it('has followed the run in the transcript', async () => {
    await w.page.locator('.tabs-container .tab.active').filter({ hasText: 'count 3' }).waitFor();
    await w.transcriptRow('done: DONE').waitFor();
    assert.match(fs.readFileSync(w.file('notes.txt'), 'utf8'), /step 3: done\nstep 4: open/);
  });

  it('says in a notification that it is done', async () => {
    await w.told('done: DONE');
    await w.notification('done: DONE').getByRole('button', { name: 'Review Changes' }).waitFor();
    await w.screenshot('done');
    await w.page.keyboard.press('Escape');
  });

  it('lists iterations, files and tool calls in the view', async () => {
    await w.run('Ralph: Focus on Loops View');
    await w.treeRow('done · $2.79').waitFor();
    await w.treeRow('Iteration 3').waitFor();
    await w.treeRow('go test ./...').waitFor();
    await w.openRow('notes.txt', w.page.locator('.monaco-diff-editor .line-delete'));
    await w.screenshot('tree-and-diff');
  });

  it('offers a dry run in the prompt file itself', async () => {
    await w.openFile('PROMPT.md');
    await w.page.locator('.codelens-decoration a').filter({ hasText: 'Dry run' }).click();
    await w.page.locator('.tabs-container .tab.active').filter({ hasText: 'Ralph Dry Run' }).waitFor();
  });

  it('starts by a key that has the prompt, and cancels from the palette', async () => {
    await w.openFile('README.md'); // a page of markdown keeps the keys to itself while it loads
    await w.key('Control+Alt+r');
    await w.statusIs(/Ralph 1\/7/);
    await until('the agent', () => w.agents().length > 0);
    await w.run('Ralph: Cancel Loop');
    await w.statusIs(/Ralph cancelled/);
    assert.deepEqual(w.agents(), []);
  });

  it('lists what can be done when the status bar is clicked', async () => {
    await w.key('Control+Alt+r');
    await w.statusIs(/Ralph 1\/7/);
    await w.status().click();
    await w.row('Pause after this iteration').waitFor();
    await w.screenshot('actions');
    await w.page.keyboard.press('Escape');
    await w.transcriptRow('This takes a while.').waitFor(); // so the window knows its tab when it is loaded again
  });

  it('has its loop after a reload of the window, which has not noticed', async () => {
    const agents = w.agents();
    await w.load(w.folder);
    await w.statusIs(/Ralph 1\/7/);
    await w.run('Ralph: Show Output'); // what was said before is in the journal
    await w.transcriptRow('This takes a while.').waitFor();
    await w.screenshot('reloaded');
    assert.deepEqual(w.agents(), agents);
    const sidecars = w.sidecars();
    await w.run('Ralph: Restart Server');
    await until('another sidecar alone', () => w.sidecars().length === 1 && w.sidecars()[0] !== sidecars[0]);
    await w.statusIs(/Ralph 1\/7/);
    assert.deepEqual(w.agents(), agents);
  });

  it('asks about a loop that was interrupted whether it should go on', async () => {
    w.interrupt();
    await until('the agent is gone', () => w.agents().length === 0);
    await w.told('interrupted at 1/7');
    await w.screenshot('interrupted');
    await w.statusIs(/Ralph interrupted at 1\/7/);
    await w.run('Ralph: Focus on Loops View');
    await w.treeRow('make everything').waitFor();
    await w.press('interrupted at 1/7', 'Resume');
    await w.statusIs(/Ralph 1\/7/);
    await until('the agent', () => w.agents().length > 0);
    await w.run('Ralph: Cancel Loop');
    await w.statusIs(/Ralph cancelled/);
  });

  it('asks again after another interruption, and discards from the palette', async () => {
    await w.key('Control+Alt+r');
    await until('the agent', () => w.agents().length > 0);
    w.interrupt();
    await w.press('interrupted at 1/7', 'Resume');
    await until('the agent', () => w.agents().length > 0);
    w.interrupt();
    await w.told('interrupted at 1/7');
    await w.run('View: Close All Editors'); // each run has a tab of its own
    await w.run('Ralph: Show Output');
    const offered = w.transcript().getByRole('button', { name: 'Resume', exact: true });
    await offered.last().waitFor();
    await w.screenshot('interrupted-twice');
    await w.run('Ralph: Cancel Loop');
    await w.statusIsGone();
    await until('nothing is offered any more', async () => (await offered.count()) === 0);
  });

  it('tells what a start meets: another loop', async () => {
    await w.run('View: Close All Editors');
    await w.key('Control+Alt+r');
    await w.statusIs(/Ralph 1\/7/);
    await until('the agent', () => w.agents().length > 0);
    const first = w.agents();
    await w.transcriptRow('This takes a while.').waitFor(); // its page takes the focus when it opens, and a key with it
    await w.key('Control+Alt+r');
    await w.press('Ralph loop active. Cancel it to start the new task?', 'Cancel It and Start');
    await until('another agent', () => w.agents().length > 0 && !w.agents().some((agent) => first.includes(agent)));
    await w.statusIs(/Ralph 1\/7/);
    await w.run('Ralph: Cancel Loop');
    await w.statusIs(/Ralph cancelled/);
  });

  it('has a loop that is kept after a reload of the window, and cancels it from there', async () => {
    await w.run('View: Close All Editors');
    await w.key('Control+Alt+k');
    await w.statusIs(/Ralph 1\/8/);
    await w.transcriptRow('This takes a while.').waitFor();
    const [agents, sidecars] = [w.agents(), w.sidecars()];
    await w.load(w.folder);
    await until('another sidecar alone', () => w.sidecars().length === 1 && w.sidecars()[0] !== sidecars[0]);
    await w.statusIs(/Ralph 1\/8/);
    await w.run('View: Close All Editors'); // the tabs may be those of before
    await w.run('Ralph: Show Output');
    await w.transcriptRow('This takes a while.').waitFor();
    await w.screenshot('alone');
    assert.deepEqual(w.agents(), agents);
    await w.run('Ralph: Cancel Loop');
    await until('the agent is gone', () => w.agents().length === 0);
    await w.statusIs(/Ralph cancelled/);
  });
});
