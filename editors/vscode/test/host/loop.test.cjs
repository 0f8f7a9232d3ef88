const assert = require('node:assert/strict');
const fs = require('node:fs');
const vscode = require('vscode');
const { extension, until, folder, stateFile, quiet, writeNotes } = require('./world.cjs');

const run = (id, argument) => vscode.commands.executeCommand(id, argument);
const at = (n) => folder(n).toString();

describe('a loop', () => {
  let api;
  const loop = (n = 0) => api.loops.status.find((l) => l.folder === at(n));
  before(async () => (api = await extension().activate()));
  beforeEach(() => quiet(api));

  it('registers every command of the manifest', async () => {
    const there = new Set(await vscode.commands.getCommands(true));
    const missing = extension().packageJSON.contributes.commands.map((c) => c.command).filter((c) => !there.has(c));
    assert.deepEqual(missing, []);
  });

  it('runs where the code is', () => assert.equal(extension().extensionKind, vscode.ExtensionKind.Workspace));

  it('starts with an argument, asks nothing, and runs to its promise', async () => {
    writeNotes();
    const result = await run('ralph.start', { folder: at(0), prompt: 'count 2', maxIterations: 5, completionPromise: 'DONE' });
    assert.match(result.loopId, /./);
    await until('the end', () => loop()?.state === 'ended');
    assert.equal(loop().stopReason, 'promise');
    assert.equal(loop().iteration, 2);
    const record = api.loops.records.get(result.loopId);
    await until('the iterations', () => record.end);
    assert.deepEqual(record.iterations.map((i) => i.outcome), ['ok', 'ok']);
    assert.deepEqual(record.files(), ['notes.txt']);
    await until('the history', () => api.loops.past.some((p) => p.loopId === result.loopId));
  });

  it('cancels, and the agent is gone', async () => {
    await run('ralph.start', { folder: at(0), prompt: 'wait' });
    await until('the tool', () => loop()?.tool?.title === 'make everything');
    const result = await run('ralph.cancel', { folder: at(0) });
    assert.equal(result.state, 'ended');
    assert.equal(fs.existsSync(stateFile()), false);
  });

  it('pauses after the iteration, and resumes', async () => {
    writeNotes();
    await run('ralph.start', { folder: at(0), prompt: 'count 3', completionPromise: 'DONE' });
    await until('an iteration', () => loop()?.state === 'running');
    await run('ralph.pause');
    await until('the pause', () => loop()?.state === 'paused');
    assert.ok(loop().iteration < 3);
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
  });

  it('goes on at a limit that is raised', async () => {
    writeNotes();
    await run('ralph.start', { folder: at(0), prompt: 'count 2', maxIterations: 1, completionPromise: 'DONE' });
    await until('the cap', () => loop()?.stopReason === 'max_iterations');
    await run('ralph.resume', { folder: at(0), maxIterations: 4 });
    await until('the end', () => loop()?.stopReason === 'promise');
  });

  it('runs in each folder of the workspace at once', async () => {
    for (const n of [0, 1]) await run('ralph.start', { folder: folder(n).fsPath, prompt: 'wait' });
    await until('both', () => loop(0)?.tool && loop(1)?.tool);
    await run('ralph.cancel', { folder: at(1) });
    assert.equal(loop(0).state, 'running');
  });

  it('runs once', async () => {
    writeNotes();
    await run('ralph.runOnce', { folder: at(0), prompt: 'count 5' });
    await until('the end', () => loop()?.stopReason === 'max_iterations');
    assert.equal(loop().iteration, 1);
  });

  it('starts from the selection, without questions that are skipped', async () => {
    await vscode.workspace.getConfiguration('ralph').update('start.ask', [], vscode.ConfigurationTarget.Global);
    try {
      const document = await vscode.workspace.openTextDocument({ content: 'not this\nwait\n' });
      const editor = await vscode.window.showTextDocument(document);
      editor.selection = new vscode.Selection(1, 0, 1, 4);
      await run('ralph.startFromEditor', { folder: at(0) });
      await until('the tool', () => loop()?.tool);
      assert.match(fs.readFileSync(stateFile(), 'utf8'), /---\n\nwait\s*$/);
    } finally {
      await vscode.workspace.getConfiguration('ralph').update('start.ask', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('takes limits from the settings, and whatever the start says beats them', async () => {
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
    await run('ralph.start', { folder: at(0), prompt: 'count 50' });
    await until('the tool', () => loop()?.tool);
    await vscode.window.showTextDocument(vscode.Uri.file(stateFile()));
    fs.writeFileSync(stateFile(), '---\nactive: maybe\niteration: many\n---\n\nwait\n');
    await until('the end', () => loop()?.stopReason === 'bad_state_file');
    await until('a diagnostic', () => vscode.languages.getDiagnostics(vscode.Uri.file(stateFile())).length > 0);
    fs.rmSync(stateFile());
  });
});

describe('what a loop shows', () => {
  let api;
  before(async () => (api = await extension().activate()));
  beforeEach(() => quiet(api));

  it('writes a transcript that follows', async () => {
    writeNotes();
    const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'count 2', completionPromise: 'DONE' });
    await run('ralph.showOutput', { loopId });
    const document = vscode.window.activeTextEditor.document;
    assert.equal(document.languageId, 'markdown');
    await until('the end in the transcript', () => document.getText().includes('**done: DONE'));
    for (const part of ['## Iteration 1/50', '**bash** `go test ./...`', '--- FAIL: TestStep1', 'Step 1 is done, 1 to go.', '## Iteration 2/50']) {
      assert.ok(document.getText().includes(part), part);
    }
    assert.equal(document.getText().match(/Step 1 is done/g).length, 1);
  });

  it('is whole when it is opened late', async () => {
    writeNotes();
    const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'count 1', completionPromise: 'DONE' });
    await until('the end', () => api.loops.records.get(loopId)?.end);
    await run('ralph.showOutput', { loopId });
    assert.match(vscode.window.activeTextEditor.document.getText(), /The tests first, for the \*\*1\.\*\* time\.[^]*\*\*done: DONE/);
  });

  it('shows a changed file next to what it was', async () => {
    writeNotes();
    const { loopId } = await run('ralph.start', { folder: at(0), prompt: 'count 1', completionPromise: 'DONE' });
    await until('the end', () => api.loops.records.get(loopId)?.end);
    await run('ralph.openDiff', { loopId, path: 'notes.txt' });
    const tab = await until('the diff', () => vscode.window.tabGroups.activeTabGroup.activeTab?.input instanceof vscode.TabInputTextDiff && vscode.window.tabGroups.activeTabGroup.activeTab);
    const before = await vscode.workspace.openTextDocument(tab.input.original);
    const after = await vscode.workspace.openTextDocument(tab.input.modified);
    assert.match(before.getText(), /^step 1: open$/m);
    assert.match(after.getText(), /^step 1: done$/m);
  });

  it('opens the help and what the doctor found', async () => {
    assert.match(await run('ralph.help'), /Ralph loops/);
    const checks = await run('ralph.doctor', { folder: at(0) });
    assert.ok(checks.some((c) => c.id === 'backend.pi' && c.ok), JSON.stringify(checks));
    assert.match(vscode.window.activeTextEditor.document.getText(), /✓ \*\*backend\.pi\*\*/);
  });

  it('opens the agent in a terminal to plan', async () => {
    const terminal = await run('ralph.plan', { folder: at(0), prompt: 'think' });
    assert.match(terminal.creationOptions.shellPath, /pi$/);
    terminal.dispose();
  });
});
