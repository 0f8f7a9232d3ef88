// What a loop tells its user and asks, and what the answers do.
import assert from 'node:assert/strict';
import { after, before, describe, it as test } from 'node:test';
import { until, Workbench } from './world.mjs';

const starts = { // by key
  1: { prompt: 'promise SHIPPED', maxIterations: 99, maxUnchangedIterations: 0 }, // it waits for its answer, however late
  2: { prompt: 'fail 1', maxIterations: 5, maxConsecutiveFailures: 1, completionPromise: 'DONE' },
  3: { prompt: 'wait', maxIterations: 7 },
};

describe('what a loop tells and asks', { timeout: 1_800_000 }, () => {
  let w;
  before(async () => {
    w = await Workbench.open({
      files: { 'PROMPT.md': 'wait\n' }, colorScheme: 'dark',
      keybindings: Object.entries(starts).map(([key, args]) => ({ key: `ctrl+alt+${key}`, command: 'ralph.start', args })),
    });
    await w.run('Ralph: Focus on Loops View');
  });
  after(() => w?.close());
  const it = (name, body) => test(name, () => w.step(name, body));
  const key = (n) => w.key(`Control+Alt+${n}`);

  /** Which steps of the walkthrough are ticked, the last ones: a start, a look. That an agent is there may be known before VS Code listens. */
  const ticks = async (...want) => {
    const boxes = w.page.locator('.getting-started-step [data-done-step-id]');
    const ticked = () => boxes.evaluateAll((all) => all.map((e) => e.getAttribute('aria-checked')));
    const isRight = async () => (await ticked()).slice(-want.length).join() === want.join();
    for (let patience = 5_000; ; patience *= 2) { // VS Code never draws a tick that comes while it builds the page, which may take long
      await w.run('Welcome: Open Walkthrough...');
      await w.choose('Your First Ralph Loop');
      await until('the page', async () => (await ticked()).length >= 3);
      if (await until('the ticks', isRight, patience).then(() => true, () => false)) return;
      if (patience > 100_000) throw new Error(`the steps are ${await ticked()}, want ${want}`);
      await w.run('View: Close Editor');
    }
  };

  it('ticks a step of the walkthrough when it is done, and no sooner', async () => {
    await ticks(false, false); // whether there is an agent, a busy machine may not know yet
    await w.screenshot('walkthrough');
  });

  it('offers a promise that nobody set, and is done by it', async () => {
    await key(1);
    await w.told('not done yet');
    await w.statusIs(/waiting \(pacing short runs\) until/);
    await w.screenshot('offer');
    await w.press('not done yet', 'Make "SHIPPED" the Promise');
    await w.told('done: SHIPPED');
    await w.statusIs(/Ralph done/);
  });

  it('shows a loop that failed, and what can be done', async () => {
    await key(2);
    await w.told('failed at 1/5');
    await w.statusIs(/Ralph failed at 1\/5/);
    assert.equal(await w.page.locator('.notification-list-item').filter({ hasText: 'failed at' }).count(), 1, 'an end is told once');
    await w.treeRow('failed').hover();
    await w.treeRow('failed').getByRole('button', { name: 'Resume' }).waitFor();
    await w.screenshot('failed');
    await w.status().click();
    for (const action of ['Resume', 'Discard', 'Open state file']) await w.row(action).waitFor();
    await w.screenshot('failed-actions');
    await w.page.keyboard.press('Escape');
  });

  it('asks before another one takes its place, and keeps it', async () => {
    await key(3);
    const question = w.notification('Discard It and Start');
    await question.waitFor();
    await w.screenshot('in-the-way');
    await question.getByRole('button', { name: 'Keep' }).click();
    await question.waitFor({ state: 'hidden' });
    assert.deepEqual(w.agents(), []);
    await w.statusIs(/Ralph failed at 1\/5/);
  });

  it('is as failed after a restart of the server, and goes on behind the iteration that failed', async () => {
    await w.run('Ralph: Restart Server');
    await w.statusIs(/Ralph failed at 1\/5/);
    await w.treeRow('failed').hover();
    await w.treeRow('failed').getByRole('button', { name: 'Resume' }).click();
    await w.told('done: DONE');
    await w.treeRow('Iteration 2').waitFor();
  });

  it('has ticked the start, and the look at the transcript that came with it', async () => {
    await ticks(true, true);
  });

  it('understands the texts of other tools', async () => {
    await w.start('/ralph-loop "wait" --max-iterations 3');
    await w.statusIs(/Ralph 1\/3/);
    await until('the agent', () => w.agents().length > 0);
    await w.run('Ralph: Change Limits...');
    await w.answer('3 iterations', 'more');
    await w.answer('"more"', '+4');
    await w.statusIs(/Ralph 1\/7/);
    await w.start('/cancel-ralph');
    await w.statusIs(/Ralph cancelled/);
    assert.deepEqual(w.agents(), []);
    await w.start('/cancel-ralph');
    await w.told('no loop is running here');
    await w.start('/ralph-help');
    await w.page.locator('.tabs-container .tab.active').filter({ hasText: 'Ralph Help' }).waitFor();
  });
});
