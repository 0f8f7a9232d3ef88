// The real agents, each against a scripted model on this machine. claude asks before it runs a command,
// and hears its user while it works.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { offline, programsOf, scriptedModel, until, Workbench } from './world.mjs';

const bash = (command) => ({ steps: [{ tool: { name: 'Bash', args: { command, description: 'It has to be.' } } }] });
const claudeScript = {
  turns: [
    bash('touch approved.txt'),
    bash('rm -rf build'),
    { match: 'not that folder', steps: [{ tool: { name: 'Write', args: { file_path: 'src/steps.txt', content: 'one\ntwo\n' } } }] },
    { match: 'steps.txt', ...bash('touch begun.txt && until [ -e go ]; do sleep 0.1; done') },
    { match: 'stop, not that file', text: 'I leave that file alone. <promise>DONE</promise>' },
  ],
};

const piScript = {
  chunk: [4, 20],
  turns: [
    { steps: [{ text: 'I write the file.' }, { tool: { name: 'write', args: { path: 'hello.txt', content: 'hello\n' } } }] },
    { text: 'It is there. Next time I check it.' },
    { steps: [{ text: 'Now the check.' }, { tool: { name: 'bash', args: { command: 'cat hello.txt; echo hello > shell.txt' } } }] },
    { text: 'It says hello. <promise>DONE</promise>' },
  ],
};

let w, ofClaude, ofPi;
before(async () => {
  [ofClaude, ofPi] = await Promise.all([scriptedModel(claudeScript), scriptedModel(piScript)]);
  const models = { providers: { fake: {
    baseUrl: ofPi.url, api: 'anthropic-messages', apiKey: 'fake',
    models: [{ id: 'fake-model', contextWindow: 200_000, maxTokens: 8192, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }],
  } } };
  w = await Workbench.open({
    programs: [programsOf('claude-'), programsOf('pi-1.6')].join(':'), viewport: { width: 1100, height: 640 }, files: { 'ralph.toml': 'permissions = "ask"\n' },
    home: { '.pi/agent/models.json': JSON.stringify(models) },
    env: {
      ANTHROPIC_BASE_URL: ofClaude.url, ANTHROPIC_API_KEY: 'fake', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1',
      PI_OFFLINE: '1', PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1', ...offline,
    },
    machine: { 'ralph.backend': 'claude' }, settings: { 'ralph.transcript.openOnStart': true },
    keybindings: [
      { key: 'ctrl+alt+r', command: 'ralph.start', args: { prompt: 'Tidy up', completionPromise: 'DONE', maxIterations: 5 } },
      { key: 'ctrl+alt+p', command: 'ralph.start', args: { prompt: 'Write hello.txt', completionPromise: 'DONE', maxIterations: 5 } },
    ],
  });
});
after(async () => {
  await w?.close();
  for (const model of [ofClaude, ofPi]) model?.stop();
});

test('what the real claude asks is answered in the editor, and it hears its user', { timeout: 1_800_000 }, async () => {
  const button = (text) => w.notification('asks: Bash touch approved.txt').getByRole('button', { name: text, exact: true });
  fs.mkdirSync(w.file('build'));
  await w.step('a command is approved', async () => {
    await w.run('Ralph: Focus on Loops View');
    await w.key('Control+Alt+r');
    await w.statusIs(/Ralph 1\/5 · .*asks: Bash touch approved\.txt/);
    await button('Allow Once').waitFor();
    assert.deepEqual(await w.notification('asks: Bash touch approved.txt').locator('.notification-list-item-buttons-container .monaco-button').allInnerTexts(), ['Deny', 'Allow Once', 'Show']);
    await w.transcriptRow('asks: Bash touch approved.txt').getByRole('button', { name: 'Deny' }).waitFor();
    await w.treeRow('Bash touch approved.txt').waitFor();
    await w.screenshot('question');
    assert.equal(fs.existsSync(w.file('approved.txt')), false);
    await w.press('asks: Bash touch approved.txt', 'Allow Once');
    await w.transcriptRow('allowed once: Bash touch approved.txt').waitFor();
  });
  await w.step('a command is denied in the transcript, with words', async () => {
    const row = w.transcriptRow('asks: Bash rm -rf build');
    await row.getByRole('button', { name: 'Deny' }).click();
    await w.page.locator('.quick-input-widget').filter({ hasText: 'Denied: Bash rm -rf build' }).waitFor();
    await w.screenshot('denying');
    await w.answer('Denied: Bash rm -rf build', 'not that folder');
    await w.transcriptRow('denied: Bash rm -rf build: not that folder').waitFor();
    await row.getByRole('button', { name: 'Deny' }).waitFor({ state: 'detached' });
    assert.equal(fs.existsSync(w.file('approved.txt')), true);
    assert.equal(fs.existsSync(w.file('build')), true);
  });
  await w.step('a kind of change is allowed for the loop, and that is taken back', async () => {
    const row = w.transcriptRow('asks: Write src/steps.txt');
    await row.locator('.diff ins').filter({ hasText: 'two' }).waitFor();
    await w.screenshot('question-diff');
    await row.getByRole('button', { name: /^Allow .* in This Loop$/ }).click();
    await until('the file is written', () => fs.existsSync(w.file('src/steps.txt')));
    const allowed = w.treeRow('allowed in this loop');
    await allowed.waitFor();
    await w.run('Ralph: Show Status');
    await w.choose('Take back: Write(src/*)');
    await allowed.waitFor({ state: 'detached' });
  });
  await w.step('it hears its user in the middle of a tool', async () => {
    await w.statusIs(/asks: Bash touch begun\.txt/);
    await w.status().click();
    await w.choose('Allow Once');
    await until('the command runs', () => fs.existsSync(w.file('begun.txt')));
    await w.run('Ralph: Steer...');
    await w.answer('What should the agent know?', 'stop, not that file');
    await w.transcriptRow('guidance for the running agent: stop, not that file').waitFor();
    fs.writeFileSync(w.file('go'), '');
    await w.statusIs(/Ralph done/);
    await w.transcriptRow('guidance delivered: stop, not that file').waitFor();
    await w.transcriptRow('done: DONE after 1 iteration').waitFor();
    await w.transcript().locator('#status').click(); // away from the status bar's tooltip
    await w.screenshot('steered');
  });
});

test('the real pi works in the editor until it keeps its promise', { timeout: 1_800_000 }, async () => {
  await w.enter('pi', {}, { 'ralph.backend': 'pi', 'ralph.backendArgs': ['--provider', 'fake', '--model', 'fake-model'] });
  await w.step('real pi', async () => {
    await w.run('Ralph: Focus on Loops View');
    await w.key('Control+Alt+p');
    await w.statusIs(/Ralph done · \$0\.\d+/);
    await w.transcriptRow('done: DONE').waitFor();
    for (const row of ['cat hello.txt', /shell\.txt\s*\+1 -0/, /All changes\s*2 files/]) await w.treeRow(row).waitFor();
    assert.equal(fs.readFileSync(w.file('hello.txt'), 'utf8'), 'hello\n');
    await w.screenshot('real-pi');
  });
});
