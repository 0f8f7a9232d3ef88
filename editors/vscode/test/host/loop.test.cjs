const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const vscode = require('vscode');
const { extension, until, folder, file, stateFile, setting, quiet, writeNotes, loopIn } = require('./world.cjs');

const run = (id, argument) => vscode.commands.executeCommand(id, argument);
const at = (n) => folder(n).toString();

describe('a loop', () => {
  let api;
  const loop = (n = 0) => loopIn(api, n);
  before(async () => (api = await extension().activate()));
  beforeEach(() => quiet(api));

  it('registers every command of the manifest @oldest', async () => {
    const there = new Set(await vscode.commands.getCommands(true));
    const missing = extension().packageJSON.contributes.commands.map((c) => c.command).filter((c) => !there.has(c));
    assert.deepEqual(missing, []);
  });

  it('runs where the code is @oldest', () => assert.equal(extension().extensionKind, vscode.ExtensionKind.Workspace));

  it('starts with an argument, asks nothing, and runs to its promise @oldest', async () => {
    writeNotes();
    const result = await run('ralph.start', { folder: at(0), prompt: 'count 2', maxIterations: 5, completionPromise: 'DONE' });
    assert.match(result.loopId, /./);
    await until('the end', () => loop()?.state === 'ended');
    assert.equal(loop().stopReason, 'promise');
    assert.equal(loop().iteration, 2);
    const record = api.loops.records.get(result.loopId);
    await until('the iterations', () => record.end);
    assert.deepEqual(record.iterations.map((i) => i.class), ['ok', 'ok']);
    assert.deepEqual(record.iterations.map((i) => i.files), [1, 1]);
    await until('the history', () => api.loops.past.some((p) => p.loopId === result.loopId));
  });

  it('ends at the promise that the prompt names', async () => {
    writeNotes();
    const said = [];
    const subscription = api.loops.onSaid(({ said: what }) => said.push(what.text));
    const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'count 2 and then output `<promise>DONE</promise>`' });
    await until('the end', () => api.loops.byId(loopId)?.stopReason === 'promise');
    subscription.dispose();
    assert.equal(loop().iteration, 2);
    assert.deepEqual(said, ['this loop is done when the agent says <promise>DONE</promise> (from the prompt); nothing verifies that']);
  });

  it('offers what it tells of, even where that is no warning, and says what came of it', async () => {
    const { showInformationMessage } = vscode.window;
    const told = [];
    vscode.window.showInformationMessage = async (...args) => { // a loop of another test tells its end with its title
      if (args[0].startsWith('Ralph: ')) return told.push(args) && args[1];
    };
    try {
      const offer = { title: 'No Sandbox', command: 'ralph.sandbox', arguments: [{ mode: 'off' }] }; // walls aren't to be had everywhere
      api.sidecar.updateEmitter.fire({ loopId: 'told', updates: [{ sessionUpdate: '_ralph/warning', text: 'there are walls', class: 'info', notify: true, offers: [offer] }] });
      await until('the answer', () => told.length === 2);
      assert.deepEqual(told[0], ['Ralph: there are walls', 'No Sandbox']);
      assert.match(told[1][0], /^Ralph: your loops have no sandbox from their next start on /);
    } finally {
      vscode.window.showInformationMessage = showInformationMessage;
    }
  });

  it('has one notice of what it says at once, with three buttons at most, and the next when that is closed', async () => {
    const { showWarningMessage, showQuickPick } = vscode.window;
    const told = [], listed = [];
    vscode.window.showWarningMessage = (message, ...buttons) => new Promise((press) => told.push({ message, buttons, press }));
    vscode.window.showQuickPick = async (items) => void listed.push(...items.map((i) => i.label));
    const say = (...texts) => api.sidecar.updateEmitter.fire({ loopId: 'told', updates: texts.map((text) => ({
      sessionUpdate: '_ralph/warning', text, class: 'warning', notify: true, offers: [1, 2].map((n) => ({ title: `${text} ${n}`, command: 'ralph.sandbox', arguments: [{}] })),
    })) });
    try {
      say('one', 'two', 'three');
      await until('the notice', () => told.length > 0);
      say('four');
      await new Promise((resolve) => setTimeout(resolve, 500)); // nothing else comes
      assert.deepEqual(told.map(({ message, buttons }) => [message, buttons]), [['Ralph: one · two · three', ['one 1', 'one 2', 'More...']]]);
      told[0].press('More...');
      await until('the next notice', () => told.length > 1);
      assert.deepEqual(listed, ['two 1', 'two 2', 'three 1', 'three 2']);
      assert.deepEqual([told[1].message, told[1].buttons], ['Ralph: four', ['four 1', 'four 2']]);
      told[1].press(undefined);
    } finally {
      Object.assign(vscode.window, { showWarningMessage, showQuickPick });
    }
  });

  it('cancels, and the agent is gone @oldest', async () => {
    await run('ralph.start', { folder: at(0), prompt: 'wait' });
    await until('the tool', () => loop()?.tool?.title === 'make everything');
    const result = await run('ralph.cancel', { folder: at(0) });
    assert.equal(result.state, 'ended');
    assert.equal(fs.existsSync(stateFile()), false);
  });

  it('pauses after the iteration, and resumes', async () => {
    writeNotes();
    fs.writeFileSync(file('hold-1-bash'), '');
    await run('ralph.start', { folder: at(0), prompt: 'count 2', completionPromise: 'DONE' });
    await until('the tool', () => loop()?.tool);
    await run('ralph.pause');
    fs.rmSync(file('hold-1-bash'));
    await until('the pause', () => loop()?.state === 'paused');
    assert.equal(loop().iteration, 1);
    await run('ralph.resume');
    await until('the end', () => loop()?.stopReason === 'promise');
  });

  it('takes guidance and new limits while it runs', async () => {
    await run('ralph.start', { folder: at(0), prompt: 'wait', maxIterations: 5 });
    await until('the tool', () => loop()?.tool);
    const { guidanceId } = await run('ralph.steer', { text: 'use tabs' });
    assert.match(guidanceId, /./);
    await run('ralph.changeLimits', { maxIterations: 9 });
    await until('the limit', () => loop()?.maxIterations === 9);
    assert.match((await run('ralph.loop.update', { text: '+10 $7' })).text, /19 iterations · \$7\.00/);
  });

  it('goes on at a limit that is raised', async () => {
    writeNotes();
    await run('ralph.start', { folder: at(0), prompt: 'count 2', maxIterations: 1, completionPromise: 'DONE' });
    await until('the cap', () => loop()?.stopReason === 'max_iterations');
    await run('ralph.resume', { folder: at(0), maxIterations: 4 });
    await until('the end', () => loop()?.stopReason === 'promise');
  });

  it('runs in each folder of the workspace at once @oldest', async () => {
    for (const n of [0, 1]) await run('ralph.start', { folder: folder(n).fsPath, prompt: 'wait' });
    await until('both', () => loop(0)?.tool && loop(1)?.tool);
    assert.equal((await run('ralph.cancel', { folder: at(1) })).state, 'ended');
    assert.equal(loop(0).state, 'running');
  });

  it('tells of the end again when it has gone on', async () => {
    writeNotes();
    const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'count 5', maxIterations: 1, completionPromise: 'DONE' });
    await until('the cap', () => loop()?.stopReason === 'max_iterations');
    api.loops.markSeen();
    const seen = () => api.loops.model.seen.has(`${loopId} ${loop().endedAt}`);
    assert.ok(seen());
    await run('ralph.resume', { loopId, maxIterations: 2 });
    await until('the second cap', () => loop()?.state === 'ended' && loop().iteration === 2 && !seen());
  });

  it('shows that it will pause', async () => {
    await run('ralph.start', { folder: at(0), prompt: 'wait' });
    await until('the tool', () => loop()?.tool);
    await run('ralph.pause');
    await until('the word for it', () => /pausing/.test(loop()?.text) && loop().can.includes('resume'));
    await run('ralph.resume');
    await until('that it will not', () => loop().can.includes('pause'));
  });

  it('runs once', async () => {
    writeNotes();
    await run('ralph.runOnce', { folder: at(0), prompt: 'count 5' });
    await until('the end', () => loop()?.stopReason === 'max_iterations');
    assert.equal(loop().iteration, 1);
  });

  it('starts from the selection, without a question @oldest', async () => {
    const document = await vscode.workspace.openTextDocument({ content: 'not this\nwait\n' });
    const editor = await vscode.window.showTextDocument(document);
    editor.selection = new vscode.Selection(1, 0, 1, 4);
    await run('ralph.startFromEditor', { folder: at(0), ask: false });
    await until('the tool', () => loop()?.tool);
    assert.match(fs.readFileSync(stateFile(), 'utf8'), /---\n\nwait\s*$/);
  });

  it('takes limits from the settings, and whatever the start says beats them @oldest', async () => {
    const settings = vscode.workspace.getConfiguration('ralph.limits');
    await settings.update('maxIterations', 7, vscode.ConfigurationTarget.Global);
    try {
      await run('ralph.start', { folder: at(0), prompt: 'wait' });
      await until('the limit', () => loop()?.maxIterations === 7);
      await run('ralph.start', { folder: at(0), prompt: 'wait', maxIterations: 3, replace: true });
      await until('the other', () => loop()?.maxIterations === 3);
      await run('ralph.start', { folder: at(0), text: 'wait --max-iterations=4', replace: true });
      await until('that of the text', () => loop()?.maxIterations === 4);
      const { limits, sources } = await run('ralph.loop.start', { folder: at(0), prompt: 'wait', maxCostUsd: 1, dryRun: true });
      assert.equal(limits.maxIterations, 7);
      assert.deepEqual([sources.maxIterations, sources.maxCostUsd], ['editor', 'start']);
    } finally {
      await settings.update('maxIterations', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('stops with the reason when its state file becomes nonsense', async () => {
    fs.writeFileSync(file('hold-1-bash'), '');
    await run('ralph.start', { folder: at(0), prompt: 'count 50' });
    await until('the tool', () => loop()?.tool);
    await vscode.window.showTextDocument(vscode.Uri.file(stateFile()));
    fs.writeFileSync(stateFile(), '---\nactive: maybe\niteration: many\n---\n\nwait\n');
    fs.rmSync(file('hold-1-bash'));
    await until('the end', () => loop()?.stopReason === 'bad_state_file');
    await until('a diagnostic', () => vscode.languages.getDiagnostics(vscode.Uri.file(stateFile())).length > 0);
    fs.rmSync(stateFile());
  });
});

describe('what a loop shows', () => {
  let api;
  before(async () => (api = await extension().activate()));
  beforeEach(() => quiet(api));

  it('writes a transcript that follows @oldest', async () => {
    writeNotes();
    const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'count 2', completionPromise: 'DONE' });
    await run('ralph.transcript.openAsText', { loopId });
    const document = vscode.window.activeTextEditor.document;
    assert.equal(document.languageId, 'markdown');
    await until('the end in the transcript', () => document.getText().includes('**done: DONE'));
    for (const part of ['## Iteration 1 of 50', '**bash** `go test ./...`', '--- FAIL: TestStep1', 'Step 1 is done, 1 to go.', '## Iteration 2 of 50']) {
      assert.ok(document.getText().includes(part), part);
    }
    assert.equal(document.getText().match(/Step 1 is done/g).length, 1);
  });

  const transcriptTabs = () => vscode.window.tabGroups.all.flatMap((g) => g.tabs).filter((tab) => tab.input?.viewType?.endsWith('ralph.transcript'));

  it('has one tab for each loop, whatever opens it @oldest', async () => {
    await run('workbench.action.closeAllEditors');
    writeNotes();
    const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'count 2', completionPromise: 'DONE' });
    await until('the end', () => api.loops.records.get(loopId)?.end);
    await run('ralph.showOutput', { loopId });
    await run('ralph.transcript.reveal', { loopId, folder: at(0), iteration: 2 });
    const [tab, ...others] = await until('the tab', () => transcriptTabs().length && transcriptTabs());
    assert.match(tab.label, /^count 2/);
    assert.deepEqual(others, []);
    await run('workbench.action.closeAllEditors');
  });

  const transcriptOf = async (loopId) => {
    await run('ralph.transcript.openAsText', { loopId });
    return vscode.window.activeTextEditor.document;
  };
  const times = (document, text) => document.getText().split(text).length - 1;

  it('follows a loop that goes on after a limit', async () => {
    writeNotes();
    const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'count 4', maxIterations: 1, completionPromise: 'DONE' });
    const document = await transcriptOf(loopId);
    await until('the limit', () => document.getText().includes('iteration limit reached'));
    await run('ralph.resume', { loopId, maxIterations: 9 });
    await until('the end', () => document.getText().includes('**done: DONE'));
    assert.deepEqual([1, 2, 3].map((n) => times(document, `Step ${n} is done`)), [1, 1, 1]);
  });

  it('follows its loop on when the server is another one, and shows all of it once', async () => {
    const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'wait' });
    const document = await transcriptOf(loopId);
    await until('the text', () => times(document, 'This takes a while.') === 1);
    for (const end of [() => run('ralph.restartServer'), () => process.kill(api.sidecar.pid, 'SIGKILL')]) {
      const before = api.sidecar.pid;
      await end();
      await until('another server', () => api.sidecar.state.state === 'running' && api.sidecar.pid !== before && loopIn(api)?.tool && loopIn(api).owned);
      assert.deepEqual(api.loops.records.get(loopId).iterations.map((i) => [i.number, i.running]), [[1, true]]);
    }
    await run('ralph.cancel', { loopId });
    await until('the end', () => document.getText().includes('**cancelled'));
    assert.deepEqual(['## Iteration 1', 'This takes a while.', '**cancelled'].map((text) => times(document, text)), [1, 1, 1]);
  });

  it('opens beside what is worked on when a loop starts @oldest', async () => {
    await run('workbench.action.closeAllEditors');
    await setting('ralph.transcript.openOnStart', true);
    try {
      const own = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: 'mine' }));
      await run('ralph.start', { folder: at(0), prompt: 'wait' });
      const beside = await until('the transcript', () => transcriptTabs()[0]);
      assert.notEqual(beside.group.viewColumn, own.viewColumn);
      assert.equal(vscode.window.activeTextEditor.document, own.document);
    } finally {
      await setting('ralph.transcript.openOnStart', false);
      await run('workbench.action.closeAllEditors');
    }
  });

  it('has the transcript and the session of a past loop @oldest', async () => {
    writeNotes();
    const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'count 1', completionPromise: 'DONE' });
    await until('the end', () => api.loops.records.get(loopId)?.end);
    await run('ralph.start', { folder: at(0), prompt: 'wait' });
    const past = await until('the history', () => !api.loops.byId(loopId) && api.loops.past.find((p) => p.loopId === loopId));
    await run('ralph.openSession', { loop: { loopId } });
    assert.equal(vscode.window.activeTextEditor.document.uri.fsPath, vscode.Uri.parse(past.sessionFileUri).fsPath);
    assert.equal((await transcriptOf(loopId)).uri.scheme, 'ralph-loop');
    const terminal = await run('ralph.continueInPi', { loop: { loopId } });
    assert.match(terminal.creationOptions.shellPath, /pi$/);
    terminal.dispose();
  });

  it('is whole when it is opened late', async () => {
    writeNotes();
    const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'count 1', completionPromise: 'DONE' });
    await until('the end', () => api.loops.records.get(loopId)?.end);
    await run('ralph.transcript.openAsText', { loopId });
    assert.match(vscode.window.activeTextEditor.document.getText(), /The tests first, for the \*\*1\.\*\* time\.[^]*\*\*done: DONE/);
  });

  it('follows a loop of another process', async () => {
    const program = vscode.workspace.getConfiguration('ralph').get('server.path');
    const terminal = spawn(program, ['run', '--backend', 'pi', 'wait'], { cwd: folder(1).fsPath, stdio: 'ignore' });
    try {
      const { loopId } = await until('the loop', () => loopIn(api, 1)?.live && loopIn(api, 1));
      const document = await transcriptOf(loopId);
      await until('what it says', () => times(document, 'This takes a while.') === 1);
      await until('its call in the view', () => api.loops.records.get(loopId)?.iterations.at(-1)?.tools.length === 1);
      terminal.kill('SIGINT');
      await until('its end', () => document.getText().includes('**interrupted'));
      assert.equal(times(document, 'This takes a while.'), 1);
      await run('ralph.cancel', { loopId });
    } finally {
      terminal.kill('SIGINT');
    }
  });

  it('follows a loop that is let go on alone, has it as before, and tells of no end', async () => {
    const { showInformationMessage, showWarningMessage } = vscode.window;
    const told = [];
    vscode.window.showInformationMessage = vscode.window.showWarningMessage = async (text) => void told.push(text);
    try {
      writeNotes();
      for (const n of [1, 2, 3]) fs.writeFileSync(file(`hold-${n}-bash`), '');
      const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'count 3', completionPromise: 'DONE' });
      const document = await transcriptOf(loopId);
      const calls = (n) => until(`the call of iteration ${n}`, () => times(document, `for the **${n}.** time.`) === 1 && api.loops.records.get(loopId).iterations.at(-1)?.tools.length === 1);
      await calls(1);
      assert.match((await run('ralph.detach', { loopId })).text, /goes on alone/);
      fs.rmSync(file('hold-1-bash'));
      await until('that it is alone', () => loopIn(api)?.detached);
      await calls(2);
      assert.deepEqual([loopIn(api).loopId, loopIn(api).owned, loopIn(api).can.includes('detach')], [loopId, false, false]);
      await run('ralph.steer', { loopId, text: 'use tabs' });
      await run('ralph.pause', { loopId });
      await until('that it will pause', () => loopIn(api).can.includes('resume'));
      await run('ralph.resume', { loopId });
      await until('that it will not', () => loopIn(api).can.includes('next'));
      await run('ralph.next', { loopId });
      await calls(3);
      assert.equal(times(document, '> use tabs'), 1);
      fs.rmSync(file('hold-3-bash'));
      await until('the end', () => document.getText().includes('**done: DONE'));
      await until('its end', () => api.loops.byId(loopId)?.state === 'ended');
      assert.deepEqual(told.filter((text) => !/^Ralph.*: done: DONE/.test(text)), []);
    } finally {
      Object.assign(vscode.window, { showInformationMessage, showWarningMessage });
      for (const n of [1, 2, 3]) fs.rmSync(file(`hold-${n}-bash`), { force: true });
    }
  });

  it('finds a loop again whose iteration was under way when the server ended, and asks nothing', async () => {
    const { showWarningMessage } = vscode.window;
    const told = [];
    vscode.window.showWarningMessage = async (text) => void told.push(text);
    try {
      const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'wait' });
      await until('its call', () => api.loops.records.get(loopId)?.iterations.at(-1)?.tools.length === 1);
      await run('ralph.detach', { loopId });
      await run('ralph.restartServer');
      await until('its call in another server', () => loopIn(api)?.detached && api.loops.records.get(loopId).iterations.at(-1)?.tools.length === 1);
      assert.deepEqual(told, []);
      await run('ralph.cancel', { loopId });
    } finally {
      Object.assign(vscode.window, { showWarningMessage });
    }
  });

  it('finds a loop again that goes on without the server, as the settings say', async () => {
    await setting('ralph.onClose', 'keep');
    try {
      const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'wait' });
      const isThere = () => loopIn(api)?.detached && api.loops.records.get(loopId)?.iterations.at(-1)?.tools.length === 1;
      await until('its call', isThere);
      await run('ralph.restartServer');
      await until('its call in another server', isThere);
      assert.deepEqual(api.loops.records.get(loopId).iterations.map((i) => [i.number, i.running]), [[1, true]]);
      assert.equal((await run('ralph.cancel', { loopId })).state, 'ended');
      await until('its end', () => api.loops.byId(loopId)?.state === 'ended');
    } finally {
      await setting('ralph.onClose', undefined);
    }
  });

  it('is whole when it was hidden meanwhile', async () => {
    writeNotes();
    const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'count 2', completionPromise: 'DONE' });
    const document = await transcriptOf(loopId);
    await until('the beginning', () => document.getText().includes('The tests first'));
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: 'mine' }));
    await until('the end', () => api.loops.records.get(loopId)?.end);
    await transcriptOf(loopId);
    await until('the end in the transcript', () => document.getText().includes('**done: DONE'));
    assert.deepEqual(['The tests first, for the **1.** time.', 'Step 1 is done', 'All steps are done'].map((text) => times(document, text)), [1, 1, 1]);
  });

  it('opens the help and what the doctor found @oldest', async () => {
    const preview = (name) => until(name, () => vscode.window.tabGroups.activeTabGroup.activeTab?.label.includes(name));
    assert.match(await run('ralph.help'), /Ralph loops/);
    await preview('Ralph Help');
    const checks = await run('ralph.doctor', { folder: folder(1).fsPath });
    assert.ok(checks.some((c) => c.id === 'backend.pi' && c.ok), JSON.stringify(checks));
    await preview('Ralph Doctor');
    const page = await vscode.workspace.openTextDocument(vscode.Uri.from({ scheme: 'ralph-page', path: '/Ralph Doctor.md' }));
    assert.match(page.getText(), /✓ \*\*backend\.pi\*\*/);
    assert.doesNotMatch(page.getText(), /✗/, 'what is fine without is no problem');
    assert.ok(page.getText().indexOf('– **backend.') > page.getText().lastIndexOf('✓'), 'agents that could be installed come last');
  });

  it('opens the agent in a terminal to plan @oldest', async () => {
    const terminal = await run('ralph.plan', { folder: at(0), prompt: 'think' });
    assert.match(terminal.creationOptions.shellPath, /pi$/);
    terminal.dispose();
  });
});
