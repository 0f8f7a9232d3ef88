// A plan that the user's settings name, as a document.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { until, Workbench } from './world.mjs';

test('a plan has lenses and diagnostics, and no other file of boxes; one runs a task', { timeout: 1_800_000 }, async () => {
  const config = fs.mkdtempSync(path.join(os.tmpdir(), 'config-'));
  fs.mkdirSync(path.join(config, 'ralph-lsp'));
  fs.writeFileSync(path.join(config, 'ralph-lsp', 'config.toml'), 'plan = "PLAN.md"\n');
  const w = await Workbench.open({
    files: { 'README.md': '# app\n\n- [ ] no task\n', 'PLAN.md': '# Plan\n\n- [ ] Read numbers (verify: test -s prompt.txt)\n- [ ] Read strings (after: nothing such)\n' },
    env: { XDG_CONFIG_HOME: config },
  });
  try {
    await w.step('plan', async () => {
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
    await w.step('run', async () => {
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
  } finally {
    await w.close();
    fs.rmSync(config, { recursive: true });
  }
});
