// Loops in VS Code's own chat, by `ralph-lsp ahp`: the server is told of the agent host when it starts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it as test } from 'node:test';
import { extension, notes, until, Workbench } from './world.mjs';

const other = { name: 'Other', address: 'localhost:1' };

describe('loops in VS Code\'s chat', { timeout: 1_800_000 }, () => {
  let w, host;
  before(async () => {
    w = await Workbench.open({
      files: { 'notes.txt': notes }, viewport: { width: 1400, height: 900 },
      settings: { 'chat.disableAIFeatures': false, 'chat.agentHost.enabled': true, 'chat.remoteAgentHosts': [other], 'workbench.secondarySideBar.defaultVisibility': 'visible', 'ralph.notify': 'never', 'security.workspace.trust.enabled': false },
      async agentHost({ work, sidecar, folder, agent }) {
        fs.writeFileSync(path.join(work.dir('config', 'ralph-lsp'), 'config.toml'),
          `backend = "stand-in"\npermissions = "ask"\n[backends.stand-in]\nprotocol = "acp"\ncommand = ${JSON.stringify(path.join(extension, 'test/agent/acp'))}\n`);
        // A server's windows have no Agents window: this stands in for its setting.
        fs.writeFileSync(path.join(work.dir('extensions', 'test.agents-1.0.0'), 'package.json'), JSON.stringify({
          name: 'agents', publisher: 'test', version: '1.0.0', engines: { vscode: '*' },
          contributes: { configuration: { properties: { 'chat.remoteAgentHosts': { type: 'array', default: [], scope: 'application' } } } },
        }));
        const token = path.join(work.root, 'token');
        host = spawn(sidecar, ['ahp', '--token-file', token, folder], {
          stdio: ['pipe', 'pipe', 'inherit'],
          env: { ...process.env, HOME: work.dir('home'), XDG_STATE_HOME: work.dir('state'), XDG_CONFIG_HOME: work.dir('config'), PATH: `${path.dirname(agent)}:${process.env.PATH}` },
        });
        const { address } = JSON.parse(String((await once(host.stdout, 'data'))[0]));
        return { address, token: fs.readFileSync(token, 'utf8').trim() };
      },
    });
  });
  after(async () => {
    await w?.close();
    host?.stdin.end();
    if (host) assert.equal((await once(host, 'exit'))[0], 0);
  });
  const it = (name, body) => test(name, () => w.step(name, body));

  const chat = () => w.page.locator('.part.auxiliarybar');
  const button = (name) => chat().getByRole('button', { name, exact: true }).filter({ visible: true }).last();
  const says = (text) => chat().locator('.interactive-item-container').filter({ hasText: text }).last().waitFor();
  const titleIs = (title) => chat().getByText(title).filter({ visible: true }).first().waitFor();
  const write = async (text) => {
    await chat().locator('.interactive-input-editor').locator('.native-edit-context, textarea').first().focus();
    await w.page.keyboard.type(text);
  };

  it('are in its picker', async () => {
    await until('Ralph loops in the picker', async (timeout) => { // VS Code asks the host some seconds after its window is up
      await chat().locator('.action-label:visible').filter({ hasText: /^Local$/ }).first().click();
      const row = w.page.locator('.context-view .monaco-list-row').filter({ hasText: 'Ralph loops' }).first();
      if (await row.waitFor({ timeout }).then(() => true, () => false)) return row.click().then(() => true, () => false);
      await w.page.keyboard.press('Escape');
      return false;
    });
    await chat().locator('.action-label:visible').filter({ hasText: 'As configured' }).waitFor();
    assert.equal(fs.existsSync(w.file('.pi')), false); // a session is no start
  });

  it('begin with a message, ask with our options, and end with their receipt', async () => {
    await write('Make the tests pass --max-iterations 4 --completion-promise DONE --sandbox off');
    await w.page.keyboard.press('Enter');
    await says('iteration 1 of 4');
    await button('Deny').waitFor();
    await titleIs('Ralph 1/4 · asks: Bash go test ./...');
    await w.screenshot('agenthost-question');
    await button('Allow Once').click();
    await says('One is left.');
    await says('iteration 2 of 4');
    await button('Allow Once').click();
    await says('done: DONE after 2 iterations');
    await titleIs('Ralph done');
    await w.screenshot('agenthost-end');
  });

  it('show what they have changed in VS Code\'s own diffs', async () => {
    await says('Ran go test ./...'); // what was asked about is still there when it is over
    await chat().getByText('1 file changed').last().waitFor(); // by the iteration
    await button('Changes: 1 File, +2, -2').click();
    await w.editorShows('step 2: open');
    await w.editorShows('step 2: done');
    await w.screenshot('agenthost-changes');
  });

  it('are told something in mid-turn', async () => {
    const steering = chat().getByText(/^steering$/i).filter({ visible: true });
    fs.writeFileSync(w.file('hold-3-bash'), '');
    await write('count 4 --backend pi --permissions agent --max-iterations 5 --completion-promise DONE --sandbox off');
    await w.page.keyboard.press('Enter');
    await says('for the 3. time');
    await write('Mind the tabs');
    await w.page.keyboard.press('Enter');
    await says('guidance for the next run: Mind the tabs');
    await steering.waitFor();
    await w.screenshot('agenthost-steering');
    fs.rmSync(w.file('hold-3-bash'));
    await steering.waitFor({ state: 'detached' }); // the agent has read it
    await says('done: DONE after 4 iterations');
    await button('Changes: 2 Files, +2, -2').waitFor(); // of this loop alone, with the file that held it
  });

  it('have a stop button that leaves nothing', async () => {
    await write('wait --backend pi --permissions agent --max-iterations 5 --sandbox off');
    await w.page.keyboard.press('Enter');
    await says('iteration 1 of 5');
    await until('the agent works', () => w.agents().length > 0);
    await chat().locator('.codicon-stop-circle, .codicon-debug-stop').filter({ visible: true }).first().click();
    await until('no agent is left', () => w.agents().length === 0);
    await says('interrupted');
    await w.screenshot('agenthost-stopped');
  });

  it('are listed for the Agents window by a command, and no more by the same', async () => {
    const user = path.join(w.server.userData, 'User/settings.json');
    const hosts = () => {
      try {
        return JSON.parse(fs.readFileSync(user, 'utf8'))['chat.remoteAgentHosts'] ?? [];
      } catch {
        return []; // it is being written
      }
    };
    await w.run("Ralph: Show or Hide Loops in VS Code's Agents Window");
    await w.told('loops are in the Agents window now');
    await until('the list', () => hosts().length === 2);
    const [first, own] = hosts();
    assert.deepEqual(first, other);
    const [address, port] = own.address.split(':');
    const answer = await fetch(`http://${address}:${port}/?tkn=${own.connectionToken}`);
    assert.equal(answer.status, 426); // it is there, and wants a WebSocket
    assert.equal((await fetch(`http://${address}:${port}/`)).status, 401);
    await w.screenshot('agenthost-listed');
    await w.run("Ralph: Show or Hide Loops in VS Code's Agents Window");
    await until('the end', () => fetch(`http://${own.address}/`).then(() => false, () => true));
    await until('the list', () => hosts().length === 1);
  });
});
