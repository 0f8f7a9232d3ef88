// The box below a transcript: it talks to the loop that runs, goes on with one that is over, and starts the next.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, it as test } from 'node:test';
import { until, Workbench } from './world.mjs';

const reply = ['Here is what I would change:', '', '```go', '// Parse reads s.', 'func Parse(s string) (int, error) {', '\tif s == "" {', '\t\treturn 0, errEmpty', '\t}', '}', '```', ''].join('\n');

describe('the box below a transcript', { timeout: 1_800_000 }, () => {
  let w;
  let t;
  before(async () => {
    w = await Workbench.open({
      viewport: { width: 1400, height: 800 }, colorScheme: 'dark',
      files: { 'do-1.sh': 'echo ok\n', 'do-2.sh': 'while [ -f hold ]; do sleep 0.1; done\n', 'say-1.md': reply, 'parse.go': 'package src\n\nfunc Parse() {}\n', hold: '', '.gitignore': 'hold\n' },
      settings: { 'ralph.transcript.openOnStart': true, 'editor.minimap.enabled': false },
      keybindings: [{ key: 'ctrl+alt+r', command: 'ralph.start', args: { prompt: 'do 2', completionPromise: 'DONE', maxIterations: 4 } }],
    });
    t = w.transcript();
  });
  after(() => w?.close());
  const it = (name, body) => test(name, () => w.step(name, body));
  const box = () => t.locator('#composer textarea');
  const button = (name) => t.locator('#talks').getByRole('button', { name });
  const chip = (label) => t.locator(`[data-chip="${label}"]`);
  /** What it looks like, in all themes; made when they are asked for. */
  const pictures = async (name) => {
    for (const [theme, media] of process.env.PICTURES ? [['light', { colorScheme: 'light' }], ['contrast', { forcedColors: 'active', colorScheme: 'dark' }], ['dark', { colorScheme: 'dark', forcedColors: 'none' }]] : []) {
      await w.page.emulateMedia(media);
      for (const width of [900, 1400]) {
        await w.page.setViewportSize({ width, height: 800 });
        await new Promise((resolve) => setTimeout(resolve, 1500)); // no event says that a theme or a size has been drawn
        await w.screenshot(`composer-${name}-${theme}-${width}`);
      }
    }
  };

  it('says what it does while an agent works, and by which limits', async () => {
    await w.run('Ralph: Focus on Loops View');
    await w.key('Control+Alt+r');
    await w.transcriptRow('Here is what I would change').waitFor();
    await until('the hint', async () => /^Tell the agent something/.test(await box().getAttribute('placeholder') ?? ''));
    await button('Steer').waitFor();
    await button('Queue').waitFor();
    await chip('update').filter({ hasText: '4 iterations' }).waitFor();
    assert.equal(await t.locator('.c-keyword').first().textContent(), 'func');
    await w.page.locator('.tabs-container .tab').filter({ hasText: 'do 2' }).waitFor();
    assert.match(await t.locator('.row').first().textContent(), /You\s*do 2/, 'the transcript begins with the prompt');
  });

  it('names files, is left by Escape, and is written in by i', async () => {
    await t.locator('#view').press('i');
    await until('the box', () => box().evaluate((e) => document.activeElement === e));
    await w.page.keyboard.type('Leave @par');
    await t.getByRole('option', { name: 'parse.go' }).waitFor();
    await pictures('mention');
    await w.page.keyboard.press('Enter');
    assert.equal(await box().inputValue(), 'Leave @parse.go ');
    await w.page.keyboard.type('alone');
    await w.page.keyboard.press('Shift+Enter');
    await w.page.keyboard.type('please');
    await w.page.keyboard.press('Escape');
    assert.equal(await box().evaluate((e) => document.activeElement === e), false);
  });

  it('tells the running loop by Enter, and is empty then', async () => {
    await t.locator('#view').press('i');
    await pictures('running');
    await w.page.keyboard.press('Alt+Enter');
    await until('an empty box', async () => (await box().inputValue()) === '');
    await w.transcriptRow('guidance for the next run').waitFor();
  });

  it('has what was written when its tab comes back', async () => {
    await box().fill('half a thought');
    await w.openFile('do-1.sh');
    await w.page.locator('.tabs-container .tab').filter({ hasText: 'do 2' }).click();
    await until('the draft', async () => (await box().inputValue().catch(() => '')) === 'half a thought');
    await box().fill('');
  });

  it('lists what can be done until something is chosen, whoever takes the keys and whatever happens', async () => {
    const tool = t.getByRole('article', { name: /^bash, sh do-2.sh/ });
    await tool.evaluate((e) => { e.dataset.before = 'yes'; });
    await w.run('Ralph: Show Status');
    await w.row('Doctor').waitFor();
    await tool.locator('.fold').click();
    fs.rmSync(w.file('hold'));
    await w.statusIs(/Ralph done/);
    await until('the row of the end', async () => !(await tool.getAttribute('data-before')));
    assert.equal(await w.row('Doctor').isVisible(), true);
    await w.page.locator('.quick-input-widget input[type=text]').first().press('Escape');
    await w.row('Doctor').waitFor({ state: 'hidden' });
  });

  it('starts the next loop with words, by what the chips say', async () => {
    await button('Start').waitFor();
    for (const label of ['Agent', 'Limits', 'Permissions', 'Walls', 'On close']) await chip(label).waitFor();
    await chip('Walls').filter({ hasText: 'no walls' }).waitFor();
    await chip('Limits').filter({ hasText: 'at most 4 iterations' }).waitFor();
    await pictures('done');
    await chip('Limits').click();
    await w.answer('Ralph: limits', '7');
    await chip('Limits').filter({ hasText: '7 iterations' }).waitFor();
    await box().fill('promise DONE');
    await box().press('Enter');
    await w.page.locator('.tabs-container .tab').filter({ hasText: 'promise DONE' }).waitFor();
    await w.statusIs(/Ralph done/);
  });
});
