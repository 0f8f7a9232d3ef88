// The whole job of a loop through standard messages: a user of an editor
// without a plugin starts, watches, steers and stops it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Editor, agentIn, isAlive, lsp, makeFolder, stateFile, until, uriOf } from './editor.mjs';
import { removeFolder } from './folder.mjs';

const task = 'Make all tests pass.\n'; // its loop is done after two iterations
const patient = 'Make all tests pass when I say go-ahead.\n'; // it isn't done before there is a file go-ahead
const endless = 'Polish the code until I stop you.\n'; // its loop goes on for ever

/** Runs a test in an editor that has a folder open with this prompt in PROMPT.md. */
function inProject(name, prompt, body) {
  test(name, async () => {
    const folder = makeFolder({ 'PROMPT.md': prompt });
    const editor = await Editor.open(folder);
    try {
      const document = await editor.show(path.join(folder, 'PROMPT.md'));
      await body(editor, document, folder);
      assert.equal(await editor.close(), 0, 'exit code');
      assert.deepEqual(editor.surprises, []);
    } finally {
      editor.server.kill('SIGKILL'); // if it still runs, the test has failed
      removeFolder(folder);
    }
  });
}

inProject('a lens runs a loop, progress and a message tell of it', patient, async (editor, document, folder) => {
  const lenses = await editor.lenses(document);
  assert.ok(lenses.every(lens => lsp.CodeLens.is(lens)));
  assert.deepEqual(lenses.map(({ command }) => command.title), ['Run Ralph loop', 'Dry run']);
  const { loopId } = await editor.click(document, /^Run/);
  await editor.progressOf(loopId, /^[12]\/50/); // one of a loop that ends before the editor agreed to it isn't shown
  fs.writeFileSync(path.join(folder, 'go-ahead'), '');
  await editor.progressOf(loopId, /^done: LOOP_COMPLETE after 2 iterations · \$0\.02 · [\d.hms]+ · nothing verified this$/);
  const values = editor.progress.get(`ralph/${loopId}`);
  assert.deepEqual(values.filter(({ kind }) => kind !== 'report').map(({ kind }) => kind), ['begin', 'end']);
  const [begin] = values;
  assert.equal(begin.title, 'Ralph');
  assert.equal(begin.cancellable, true);
  const { type, message } = await editor.message(/^Ralph done/);
  assert.equal(type, lsp.MessageType.Info);
  assert.match(message, /LOOP_COMPLETE after 2 iterations/);
  await until('a new lens', async () => (await editor.lenses(document))[0].command.title === 'Run Ralph loop');
});

inProject('a dry run starts nothing', endless, async (editor, document, folder) => {
  const { argv, cwd, promptBytes } = await editor.click(document, /^Dry run/);
  assert.equal(path.basename(argv[0]), 'pi');
  assert.equal(cwd, folder);
  assert.ok(promptBytes >= endless.length);
  assert.equal(fs.existsSync(stateFile(folder)), false);
});

inProject('progress names the tool, and its button cancels', endless, async (editor, document, folder) => {
  const { loopId } = await editor.click(document, /^Run/);
  const agent = await agentIn(folder);
  const seen = await editor.progressOf(loopId, /^1\/50 · \$0\.01 · bash make forever$/);
  assert.equal(seen.percentage, 0);
  await editor.tell(lsp.WorkDoneProgressCancelNotification, { token: `ralph/${loopId}` });
  await editor.progressOf(loopId, /^cancelled after 1 iteration/);
  assert.equal(isAlive(agent), false);
  const { type } = await editor.message(/^Ralph cancelled after 1 iteration/);
  assert.equal(type, lsp.MessageType.Info);
  assert.equal(fs.existsSync(stateFile(folder)), false);
});

inProject('the lens of a running loop cancels it', endless, async (editor, document, folder) => {
  await editor.click(document, /^Run/);
  const agent = await agentIn(folder);
  await until('refresh', () => editor.refreshes > 0);
  const { state } = await editor.click(document, /^1\/50 .*Cancel$/);
  assert.equal(isAlive(agent), false);
  assert.equal(state, 'ended');
});

inProject('a second start is a question', endless, async (editor, document, folder) => {
  const { loopId } = await editor.click(document, /^Run/);
  const first = await agentIn(folder);
  const start = () => editor.run('ralph.loop.start', { promptUri: document.uri });

  editor.answers = { 'Ralph loop active': 'Keep' };
  await assert.rejects(start(), error => error.code === lsp.LSPErrorCodes.RequestFailed && error.data.reason === 'already_running');
  assert.deepEqual(editor.questions[0].actions.map(({ title }) => title), ['Keep', 'Cancel and start']);
  assert.equal(isAlive(first), true);

  editor.answers = { 'Ralph loop active': 'Cancel and start' };
  const second = await start();
  assert.notEqual(second.loopId, loopId);
  assert.equal(isAlive(first), false);
  await agentIn(folder);
});

inProject('a question without an answer holds up nothing', endless, async (editor, document, folder) => {
  const { loopId } = await editor.click(document, /^Run/);
  await agentIn(folder);
  const giveUp = new lsp.CancellationTokenSource();
  const start = editor.run('ralph.loop.start', { promptUri: document.uri }, giveUp.token);
  const refused = assert.rejects(start);
  await editor.question(/Ralph loop active/);
  const { loops } = await editor.run('ralph.loop.status', {});
  assert.deepEqual(loops.map(loop => [loop.loopId, loop.state]), [[loopId, 'running']]);
  giveUp.cancel();
  await refused;
  await until('the end of the question', () => editor.withdrawn === 1);
});

inProject('a limit that is reached can be raised', task, async (editor, document) => {
  editor.answers = { 'iteration limit reached': 'Raise to 2 iterations and Go On' };
  await editor.run('ralph.loop.start', { promptUri: document.uri, maxIterations: 1, completionPromise: 'DONE' });
  await editor.message(/^Ralph done: DONE after 2 iterations/);
  const [{ type, actions }] = editor.questions;
  assert.equal(type, lsp.MessageType.Warning);
  assert.deepEqual(actions.map(({ title }) => title), ['Later', 'Raise to 2 iterations and Go On', 'Discard']);
});

inProject('two folders run their loops side by side', endless, async (editor, document, folder) => {
  const other = makeFolder({ 'PROMPT.md': endless });
  const added = [{ uri: uriOf(other), name: 'other' }];
  await editor.tell(lsp.DidChangeWorkspaceFoldersNotification, { event: { added, removed: [] } });
  const agents = [];
  for (const each of [folder, other]) {
    await editor.run('ralph.loop.start', { folder: uriOf(each), prompt: endless });
    agents.push(await agentIn(each));
  }
  await editor.run('ralph.loop.cancel', { folder: uriOf(other) });
  assert.deepEqual(agents.map(isAlive), [true, false]);
  removeFolder(other);
});

inProject('an editor that goes takes the agent with it, the next one is asked', endless, async (editor, document, folder) => {
  await editor.click(document, /^Run/);
  const agent = await agentIn(folder);
  editor.go();
  assert.equal(await editor.exit(), 1, 'exit code without shutdown');
  await until('the end of the agent', () => !isAlive(agent));

  const next = await Editor.open(folder);
  const { actions } = await next.question(/^A Ralph loop was interrupted in .* at iteration 1\/50/);
  assert.deepEqual(actions.map(({ title }) => title), ['Later', 'Resume', 'Discard']);
  await next.run('ralph.loop.resume', {});
  assert.equal(isAlive(await agentIn(folder)), true);
  Object.assign(editor, { server: next.server, exited: next.exited, connection: next.connection });
});

inProject('a state file is checked, explained and completed', endless, async (editor, document, folder) => {
  const text = ['---', 'active: false', 'max_iterations: many', 'max_co', '---', '', 'Work. 🚀'].join('\n');
  const { uri } = await editor.show(stateFile(folder), text);
  const textDocument = { uri };
  const problems = async () => (await editor.ask(lsp.DocumentDiagnosticRequest, { textDocument })).items;

  const [wrong] = await problems();
  assert.ok(lsp.Diagnostic.is(wrong));
  assert.equal(wrong.range.start.line, 2);
  assert.match(wrong.message, /max_iterations.*whole number/);

  const hover = await editor.ask(lsp.HoverRequest, { textDocument, position: { line: 2, character: 4 } });
  assert.ok(lsp.Hover.is(hover));
  assert.match(hover.contents.value, /max_iterations/);

  const completions = await editor.ask(lsp.CompletionRequest, { textDocument, position: { line: 3, character: 6 } });
  const item = completions.items.find(({ label }) => label === 'max_cost_usd');
  assert.deepEqual(item.textEdit.range, { start: { line: 3, character: 0 }, end: { line: 3, character: 6 } });

  const contentChanges = [{ text: text.replace('max_iterations: many', 'max_iteration: 5').replace('max_co\n', '') }];
  await editor.tell(lsp.DidChangeTextDocumentNotification, { textDocument: { uri, version: 2 }, contentChanges });
  const typo = (await problems()).find(({ message }) => message.includes('max_iteration'));
  const actions = await editor.ask(lsp.CodeActionRequest, { textDocument, range: typo.range, context: { diagnostics: [typo] } });
  assert.ok(actions.every(action => lsp.CodeAction.is(action)));
  const [edit] = actions.find(({ isPreferred }) => isPreferred).edit.changes[uri];
  assert.equal(edit.newText, 'max_iterations');
  assert.deepEqual(edit.range, { start: { line: 2, character: 0 }, end: { line: 2, character: 'max_iteration'.length } });
});
