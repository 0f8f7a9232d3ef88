import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Workbench } from './world.mjs';

async function story(options, body) {
  const w = await Workbench.open(options);
  try {
    await w.step('bad input', () => body(w));
  } finally {
    await w.close();
  }
}

test('a missing sidecar is said in the status bar and in one notification', { timeout: 1_800_000 }, () =>
  story({ machine: { 'ralph.server.path': '/nowhere/ralph-lsp' }, colorScheme: 'dark' }, async (w) => {
    await w.statusIs(/Ralph server not running/);
    await w.notification('there is no program at /nowhere/ralph-lsp').waitFor();
    await w.run('Ralph: Focus on Loops View');
    await w.page.locator('.welcome-view-content').getByText('could not be started').waitFor();
    await w.screenshot('missing-server');
    assert.equal(await w.page.locator('.notification-toast').count(), 1);
    await w.status().click();
    await w.row('Restart the server').waitFor();
  }));

test('a server that is not there yet is waited for, and nothing says that it is missing', { timeout: 1_800_000 }, async () => {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'ralph-slow-'));
  const [slow, gate] = [path.join(place, 'ralph-lsp'), path.join(place, 'gate')];
  fs.writeFileSync(slow, `#!/bin/sh\nif [ "$1" != version ]; then until [ -e ${gate} ]; do sleep 0.05; done; fi\nexec "${path.resolve(process.env.RALPH_LSP)}" "$@"\n`, { mode: 0o755 });
  try {
    await story({ machine: { 'ralph.server.path': slow } }, async (w) => {
      await w.run('Ralph: Help');
      await w.run('Ralph: Focus on Loops View');
      const welcome = w.page.locator('.welcome-view-content');
      await welcome.getByText('Start Loop').waitFor();
      assert.equal(await welcome.getByText('could not be started').count(), 0);
      assert.equal(await w.page.locator('.pane-header, .composite.title').filter({ hasText: 'Ralph: Ralph' }).count(), 0);
      await w.screenshot('not-yet');
      fs.writeFileSync(gate, '');
      await w.page.locator('.tabs-container .tab.active').filter({ hasText: 'Ralph Help' }).waitFor();
      assert.equal(await w.page.locator('.notification-toast').count(), 0);
    });
  } finally {
    fs.rmSync(place, { recursive: true });
  }
});

test('without a folder, a start says what is missing; one that can not be written to is named, and no loop starts', { timeout: 1_800_000 }, () =>
  story({ noFolder: true, files: { 'README.md': '# app\n', '.pi': 'a file where the state folder should be' }, keybindings: [{ key: 'ctrl+alt+r', command: 'ralph.start', args: { prompt: 'wait' } }] }, async (w) => {
    await w.run('Ralph: Start Loop...');
    await w.notification('Ralph works in a folder. Open one first.').waitFor();
    await w.load(w.folder);
    await w.run('Ralph: Focus on Loops View');
    await w.page.keyboard.press('Control+Alt+r');
    await w.notification('Ralph:').waitFor();
    assert.match(await w.notification('Ralph:').innerText(), /\.pi/);
    assert.deepEqual(w.agents(), []);
  }));

test('without an agent, a start says so and leads to the doctor, or to a terminal that installs one', { timeout: 1_800_000 }, () =>
  story({ programs: '/nowhere', files: { 'PROMPT.md': 'wait\n' }, keybindings: [{ key: 'ctrl+alt+r', command: 'ralph.start', args: { prompt: 'wait' } }] }, async (w) => {
    await w.run('Ralph: Focus on Loops View');
    await w.page.keyboard.press('Control+Alt+r');
    await w.press('no agent is installed', 'Run Doctor');
    await w.page.locator('.tabs-container .tab.active').filter({ hasText: 'Ralph Doctor' }).waitFor();
    await w.run('View: Close Editor'); // a page keeps the keys to itself
    await w.run('Ralph: Focus on Loops View');
    await w.page.keyboard.press('Control+Alt+r');
    await w.press('no agent is installed', 'Install...');
    await w.choose('npm install -g @earendil-works/pi-coding-agent');
    await w.page.locator('.part.panel').getByText('Install pi').first().waitFor();
    await w.screenshot('install');
  }));
