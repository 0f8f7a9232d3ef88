// The panel in the secondary side bar: it lists the loops, shows one, and commands it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, it as test } from 'node:test';
import { until, Workbench } from './world.mjs';

const works = 'echo changed >> src.txt; while [ -f hold ]; do sleep 0.1; done\n'; // in each iteration: an agent that ends has no other that follows

describe('the panel', { timeout: 1_800_000 }, () => {
  let w;
  let t;
  before(async () => {
    w = await Workbench.open({
      viewport: { width: 1400, height: 800 }, colorScheme: 'dark',
      files: { 'do-1.sh': works, 'do-2.sh': works, 'src.txt': 'one\n', hold: '', '.gitignore': 'hold\n.pi\n' },
      settings: { 'ralph.transcript.openIn': 'panel', 'ralph.transcript.openOnStart': true },
      keybindings: [
        { key: 'ctrl+alt+r', command: 'ralph.start', args: { prompt: 'do 1', completionPromise: 'DONE', maxIterations: 4 } },
        { key: 'ctrl+alt+w', command: 'ralph.start', args: { prompt: 'wait', maxIterations: 7, worktree: true } },
      ],
    });
    const git = (...args) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], { cwd: w.folder });
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'begin');
    t = w.transcript();
  });
  after(() => w?.close());
  const it = (name, body) => test(name, () => w.step(name, body));
  const tabs = () => w.page.locator('.editor-group-container .tabs-container .tab');
  const action = (name) => t.getByRole('group', { name: 'What can be done with the loop' }).getByRole('button', { name, exact: true });
  const loop = (name) => t.getByRole('list', { name: 'Loops' }).getByRole('button', { name });
  const box = () => t.locator('#composer textarea');
  const shows = (title) => t.getByRole('feed', { name: `Transcript: ${title}` }).waitFor();

  it('opens with a loop that starts, and takes no editor', async () => {
    await w.run('Ralph: Focus on Loops View');
    await w.key('Control+Alt+r');
    await shows('do 1');
    await t.getByRole('article', { name: /^bash, sh do-1.sh, running/ }).waitFor();
    assert.equal(await w.page.locator('.part.auxiliarybar iframe, .part.auxiliarybar').first().isVisible(), true);
    assert.equal(await tabs().count(), 0);
    assert.equal(await t.getByRole('list', { name: 'Loops' }).isVisible(), false, 'the one loop needs no list');
  });

  it('pauses, resumes, goes to the next iteration and stops its loop, each beside the box', async () => {
    await action('Pause after this iteration').click();
    await action('Resume').click();
    await action('Pause after this iteration').waitFor();
    const agents = w.agents();
    await action('Next iteration').click();
    await until('another agent', () => w.agents().length > 0 && !w.agents().some((agent) => agents.includes(agent)));
    await w.screenshot('panel-running');
    await action('Stop the loop').click();
    await w.statusIs(/Ralph cancelled/);
    await action('Start again').waitFor();
    assert.equal(await action('Stop the loop').count(), 0);
    await action('Review changes').click();
    await w.page.locator('.monaco-diff-editor .line-insert').first().waitFor();
    await w.run('View: Close All Editors');
  });

  it('shows the next loop in the same place, and lists both', async () => {
    await w.key('Control+Alt+w');
    await shows('wait');
    assert.equal(await tabs().count(), 0);
    await loop(/^wait, running, 1\/7/).waitFor();
    assert.equal(await loop(/^wait/).getAttribute('aria-current'), 'true');
    await w.screenshot('panel-two');
  });

  it('has a name for a screen reader on all that can be reached', async () => {
    const nameless = await t.locator('body').evaluate((body) => [...body.querySelectorAll('button, input, textarea, a, [role], [tabindex]')]
      .filter((e) => !/\p{L}/u.test(e.getAttribute('aria-label') ?? e.textContent)).map((e) => e.cloneNode().outerHTML));
    assert.deepEqual(nameless, []);
  });

  it('has what was being written for a loop when it is shown again', async () => {
    await box().fill('half a thought');
    await loop(/^do 1/).click();
    await shows('do 1');
    assert.equal(await box().inputValue(), '');
    await loop(/^do 1/).press('ArrowUp');
    await w.page.keyboard.press('Enter');
    await shows('wait');
    await until('the draft', async () => (await box().inputValue()) === 'half a thought');
    await box().fill('');
  });

  it('shows a loop whose row is clicked, which stays unfolded', async () => {
    await w.openRow('do 1', t.getByRole('feed', { name: 'Transcript: do 1' }));
    await w.treeRow('Iteration 2').waitFor();
  });

  it('goes on from a loop in the same place, by its promise and its limits', async () => {
    await t.locator('[data-chip="Promise"]').filter({ hasText: 'DONE' }).waitFor();
    await t.locator('[data-chip="Limits"]').filter({ hasText: '4 iterations' }).waitFor();
    await box().fill('promise DONE');
    await box().press('Enter');
    await shows('promise DONE');
    await loop(/^promise DONE, done · /).waitFor();
    assert.equal(await tabs().count(), 0);
  });

  it('opens a loop in an editor, where it stays', async () => {
    await t.getByRole('button', { name: 'Open in an Editor' }).click();
    await tabs().filter({ hasText: 'promise DONE' }).waitFor();
    await w.run('Ralph: Show Status');
    await w.page.keyboard.press('Escape');
    assert.equal(await tabs().count(), 1);
  });
});
