// Writing a prompt, looking at what would run, and starting it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it as test } from 'node:test';
import { notes, until, Workbench } from './world.mjs';

describe('a start', { timeout: 1_800_000 }, () => {
  let w;
  before(async () => {
    w = await Workbench.open({ files: { 'PROMPT.md': 'wait\n', 'notes.txt': notes, 'ralph.toml': '# limits\n[limits]\nmax_iterations = 20\nmax_cost_usd = 5\n' }, colorScheme: 'dark' });
    fs.mkdirSync(w.file('src/parser'), { recursive: true });
    fs.writeFileSync(w.file('src/parser/lexer.go'), 'package parser\n');
  });
  after(() => w?.close());
  const it = (name, body) => test(name, () => w.step(name, body));
  const lens = (text) => w.lens(text);
  const type = (text) => w.page.keyboard.type(text);

  it('opens an editor that says what would run, before anything is written', async () => {
    await w.run('Ralph: Start Loop...');
    await w.page.locator('.tabs-container .tab.active').filter({ hasText: 'Ralph Prompt' }).waitFor();
    await lens('Start (Ctrl+Enter)').waitFor();
    await lens('pi 0.80.3').waitFor();
    await lens('at most 20 iterations').waitFor();
    await lens('no walls').waitFor();
    assert.equal(await lens('own choice').count(), 0, 'a model that nobody named leaves its room to the rest');
    await w.page.waitForFunction(() => [...document.querySelectorAll('.view-line span')].some((e) => getComputedStyle(e, '::after').content.includes('Left empty, the prompt file')));
    await w.screenshot('prompt-empty');
  });

  it('completes files behind an @', async () => {
    await w.focusEditor();
    await type('count 2 and look at @lex');
    await w.page.locator('.suggest-widget .monaco-list-row').filter({ hasText: 'src/parser/lexer.go' }).waitFor();
    await w.screenshot('prompt-mention');
    await w.page.keyboard.press('Enter');
    await w.editorShows('@src/parser/lexer.go');
    await type('\nthen output <promise>DONE</promise> ');
    await lens('DONE (from the prompt)').waitFor();
    await w.screenshot('prompt-written');
  });

  it('changes the limits in words that a person types, and goes back without losing one', async () => {
    await lens('at most 20 iterations').click();
    await w.answer('Ralph: limits', 'many');
    await w.page.locator('.quick-input-widget').getByText('write a whole number').waitFor();
    await w.answer('Ralph: limits', '7, $3,5');
    await lens('at most 7 iterations, $3.50').waitFor();
    await w.run('Ralph: What Will Run...');
    await w.row('Permissions').waitFor();
    for (const [row, text] of [['Agent', 'pi 0.80.3'], ['Limits', '7 iterations'], ['Promise', 'DONE (from the prompt)'], ['Folder', 'app']]) await w.row(row).filter({ hasText: text }).waitFor();
    await w.screenshot('options');
    await w.choose('Agent');
    await w.page.locator('.quick-input-widget').filter({ hasText: 'Ralph: agent' }).waitFor();
    await w.row('pi 0.80.3').waitFor();
    await w.screenshot('agents');
    await w.page.locator('.quick-input-widget a[aria-label="Back"], .quick-input-widget a[aria-label^="Back"]').first().click();
    await w.row('Permissions').waitFor();
    await w.page.keyboard.press('Escape');
    await lens('at most 7 iterations, $3.50').waitFor();
  });

  it('says what becomes of the loop without its window, and a click changes that', async () => {
    await lens('ends with this window').click();
    await lens('goes on alone').waitFor();
    await w.run('Ralph: What Will Run...');
    await w.choose('On close');
    await w.row('On close').filter({ hasText: 'ends with this window' }).waitFor();
    await w.page.keyboard.press('Escape');
    await lens('ends with this window').waitFor();
  });

  it('has the draft again after the editor was closed, without a question', async () => {
    await w.focusEditor();
    await w.page.keyboard.press('Control+End');
    await type('!');
    await w.run('View: Close Editor');
    await w.page.locator('.tabs-container .tab').filter({ hasText: 'Ralph Prompt' }).waitFor({ state: 'detached' });
    await w.run('Ralph: Start Loop...');
    await w.editorShows('count 2 and look at @src/parser/lexer.go');
    await w.editorShows('</promise> !');
    await lens('at most 7 iterations, $3.50').waitFor();
  });

  it('starts by Ctrl+Enter, opens the transcript, and is empty again', async () => {
    await w.focusEditor();
    await w.page.keyboard.press('Control+Enter');
    await w.statusIs(/Ralph [12]\/7/);
    await w.page.locator('.tabs-container .tab').filter({ hasText: 'Ralph Prompt' }).waitFor({ state: 'detached' });
    await w.page.locator('.tabs-container .tab').filter({ hasText: 'count 2 and look' }).waitFor();
    await w.statusIs(/Ralph done/);
    await w.run('Ralph: Start Loop...');
    await lens('at most 20 iterations, $5.00').waitFor();
  });

  it('takes a recent prompt, which undo takes out again', async () => {
    await w.run('Ralph: Recent Prompts...');
    await w.row('count 2').waitFor();
    await w.screenshot('recent');
    await w.choose('count 2');
    await w.editorShows('@src/parser/lexer.go');
    await w.focusEditor();
    await w.page.keyboard.press('Control+z');
    await w.page.waitForFunction(() => ![...document.querySelectorAll('.view-line')].some((l) => l.textContent.includes('lexer')));
  });

  it('starts again with the last answers, by one command', async () => {
    fs.writeFileSync(w.file('notes.txt'), notes);
    await w.run('Ralph: Start Again with the Last Answers');
    await w.statusIs(/Ralph [12]\/7/);
    await w.statusIs(/Ralph done/);
  });

  it('shows from the prompt file what will run, before it runs', async () => {
    await w.openFile('PROMPT.md');
    await lens('Run Ralph loop').click();
    await w.row('Start').waitFor();
    await w.row('Prompt').filter({ hasText: 'wait' }).waitFor();
    assert.deepEqual(w.agents(), []);
    await w.screenshot('confirm');
    await w.page.keyboard.press('Enter');
    await w.statusIs(/Ralph 1\/20/);
    await until('the agent', () => w.agents().length > 0);
    await w.run('Ralph: Cancel Loop');
    await w.statusIs(/Ralph cancelled/);
  });

  it('takes back what a preview offered', async () => {
    fs.writeFileSync(w.file('Makefile'), 'test:\n\ttrue\n');
    await w.openFile('PROMPT.md');
    await lens('Run Ralph loop').click();
    await w.choose('Verify with make test');
    await w.row('Verified by').filter({ hasText: 'make test', hasNotText: 'nothing' }).waitFor();
    await w.choose('Verified by');
    await w.answer('Ralph: verify', '');
    await w.row('Verified by').filter({ hasText: 'nothing' }).waitFor();
    await w.choose('Start');
    await w.statusIs(/Ralph 1\/20/);
    await until('the agent', () => w.agents().length > 0);
    assert.doesNotMatch(fs.readFileSync(w.file('.pi/ralph-loop.local.md'), 'utf8'), /make test/);
    await w.run('Ralph: Cancel Loop');
    await w.statusIs(/Ralph cancelled/);
  });

  it('shows a dry run that can not be edited', async () => {
    await w.openFile('PROMPT.md');
    await lens('Dry run').click();
    await w.page.locator('.tabs-container .tab.active').filter({ hasText: 'Ralph Dry Run' }).waitFor();
    await w.screenshot('dry-run');
    assert.deepEqual(w.agents(), []);
  });

  it('colours ralph.toml', async () => {
    await w.openFile('ralph.toml');
    await w.page.locator('.part.statusbar').getByText('ralph.toml').waitFor();
    await w.page.locator('.view-line span[class*=mtk]').filter({ hasText: '# limits' }).waitFor();
    await w.screenshot('toml');
  });

  it('has lenses and diagnostics in a plan that the settings name, and in no other file of boxes', async () => {
    fs.writeFileSync(path.join(w.work.dir('config', 'ralph-lsp'), 'config.toml'), 'plan = "PLAN.md"\n');
    await w.enter('plan', { 'README.md': '# app\n\n- [ ] no task\n', 'PLAN.md': '# Plan\n\n- [ ] Read numbers (verify: test -s prompt.txt)\n- [ ] Read strings (after: nothing such)\n' });
    await w.openFile('README.md');
    await w.openFile('PLAN.md');
    await w.lens('Run this').waitFor();
    await w.page.locator('.squiggly-warning').first().waitFor();
    await w.lens('Skip').click();
    await w.page.locator('.view-line').filter({ hasText: '[x] Read numbers' }).waitFor();
    await w.lens('Open again').waitFor();
    await w.screenshot('plan');
    await w.openFile('README.md');
    await w.page.locator('.view-line').filter({ hasText: 'no task' }).waitFor();
    assert.equal(await w.lens('Run this').count(), 0);
  });

  it('runs a task of a plan', async () => {
    await w.openFile('PLAN.md');
    await w.lens('Open again').click();
    await w.page.locator('.view-line').filter({ hasText: '[ ] Read numbers' }).waitFor();
    await w.focusEditor();
    await w.page.keyboard.press('Control+s'); // else what the loop writes is a conflict
    await until('the file', () => fs.readFileSync(w.file('PLAN.md'), 'utf8').includes('[ ] Read numbers'));
    await until('the lenses of both tasks', async () => (await w.page.locator('.codelens-decoration a').filter({ hasText: 'Run this' }).count()) === 2);
    await w.lens('Run this').click();
    await w.row('the task "Read numbers" of PLAN.md').waitFor();
    await w.page.keyboard.press('Enter');
    await w.lens('done in iteration 1').waitFor();
    await w.page.locator('.view-line').filter({ hasText: '[x] Read numbers' }).waitFor();
    assert.equal(fs.readFileSync(w.file('PLAN.md'), 'utf8'), '# Plan\n\n- [x] Read numbers (verify: test -s prompt.txt)\n- [ ] Read strings (after: nothing such)\n');
    await w.screenshot('plan-done');
  });
});
