// One server and one browser: what is wrong changes between the windows.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Workbench } from './world.mjs';

describe('bad input', { timeout: 1_800_000 }, () => {
  let w, welcome;
  before(async () => {
    w = await Workbench.open({
      machine: { 'ralph.server.path': '/nowhere/ralph-lsp' }, files: { 'README.md': '# app\n', '.pi': 'a file where the state folder should be' },
      keybindings: [{ key: 'ctrl+alt+r', command: 'ralph.start', args: { prompt: 'wait' } }],
    });
    welcome = w.page.locator('.welcome-view-content');
  });
  after(() => w.close());

  it('of a missing sidecar is said in the status bar and in one notification', () => w.step('missing', async () => {
    await w.statusIs(/Ralph server not running/);
    await w.told('there is no program at /nowhere/ralph-lsp');
    await w.run('Ralph: Focus on Loops View');
    await welcome.getByText('could not be started').waitFor();
    await w.screenshot('missing-server');
    assert.equal(await w.page.locator('.notification-toast').count(), 1);
    await w.status().click();
    await w.row('Restart the server').waitFor();
  }));

  it('is not what a server is that is not there yet: it is waited for, and nothing says that it is missing', () => w.step('slow', async () => {
    const [slow, gate] = [path.join(w.work.root, 'slow'), path.join(w.work.root, 'gate')];
    fs.writeFileSync(slow, `#!/bin/sh\nif [ "$1" != version ]; then until [ -e ${gate} ]; do sleep 0.05; done; fi\nexec "${w.sidecar}" "$@"\n`, { mode: 0o755 });
    w.setMachine({ 'ralph.server.path': slow });
    await w.load(w.folder);
    await w.run('Ralph: Help');
    await w.run('Ralph: Focus on Loops View');
    await welcome.getByText('Start Loop').waitFor();
    assert.equal(await welcome.getByText('could not be started').count(), 0);
    assert.equal(await w.page.locator('.pane-header, .composite.title').filter({ hasText: 'Ralph: Ralph' }).count(), 0);
    await w.screenshot('not-yet');
    fs.writeFileSync(gate, '');
    await w.page.locator('.tabs-container .tab.active').filter({ hasText: 'Ralph Help' }).waitFor();
    assert.equal(await w.page.locator('.notification-toast').count(), 0);
  }));

  it('of a start without a folder, or in one that can not be written to, is named, and no loop starts', () => w.step('folder', async () => {
    w.setMachine({});
    await w.load();
    await w.run('Ralph: Start Loop...');
    await w.told('Ralph works in a folder. Open one first.');
    await w.load(w.folder);
    await w.run('Ralph: Focus on Loops View');
    await w.key('Control+Alt+r');
    await w.told('Ralph:');
    assert.match(await w.notification('Ralph:').innerText(), /\.pi/);
    assert.deepEqual(w.agents(), []);
  }));

  it('of a start without an agent leads to the doctor, or to a terminal that installs one', () => w.step('agent', async () => {
    fs.rmSync(w.agent);
    await w.load(w.work.dir('other'));
    await w.run('Ralph: Focus on Loops View');
    await w.key('Control+Alt+r');
    await w.press('no agent is installed', 'Run Doctor');
    await w.page.locator('.tabs-container .tab.active').filter({ hasText: 'Ralph Doctor' }).waitFor();
    await w.run('View: Close Editor'); // a page keeps the keys to itself
    await w.run('Ralph: Focus on Loops View');
    await w.key('Control+Alt+r');
    await w.press('no agent is installed', 'Install...');
    await w.choose('npm install -g @earendil-works/pi-coding-agent');
    await w.page.locator('.part.panel').getByText('Install pi').first().waitFor();
    await w.screenshot('install');
  }));
});
