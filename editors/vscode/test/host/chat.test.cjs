// Loops in the chat: what the participant answers, and what the tools of models do.
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const vscode = require('vscode');
const { extension, until, folder, file, quiet } = require('./world.cjs');

const here = 1; // the workspace's folder
const prompt = 'do 1, then output <promise>DONE</promise>';

describe('the chat', () => {
  let api;
  before(async () => (api = await extension().activate()));
  beforeEach(async () => {
    await quiet(api);
    fs.writeFileSync(file('do-1.sh', here), 'echo made > made.txt\n');
    fs.writeFileSync(file('chat.txt', here), '');
    await vscode.window.showTextDocument(vscode.Uri.file(file('chat.txt', here))); // says which folder is meant
  });
  afterEach(() => ['made.txt', 'chat.txt', 'do-1.sh'].forEach((name) => fs.rmSync(file(name, here), { force: true })));

  /** What the participant answers. */
  async function answer(request, token = new vscode.CancellationTokenSource().token) {
    const said = { text: '', progress: [], buttons: [], files: [] };
    await api.chat.answer({ prompt: '', references: [], ...request }, {
      markdown: (m) => (said.text += m.value.replace(/\\(.)/g, '$1')), progress: (line) => said.progress.push(line),
      button: ({ title, command }) => said.buttons.push([title, command]), reference: (uri) => said.files.push(uri.toString()),
    }, token);
    return said;
  }

  it('has tools for models @oldest', async () => {
    const names = vscode.lm.tools.map(({ name }) => name).filter((name) => name.startsWith('ralph_'));
    assert.deepEqual(names.sort(), extension().packageJSON.contributes.languageModelTools.map(({ name }) => name).sort());
  });

  it('has a server of the Model Context Protocol where the editor asks for one @oldest', async () => {
    const [major, minor] = vscode.version.split('.').map(Number);
    const isAsked = major > 1 || minor >= 101;
    assert.equal(api.mcp !== undefined, isAsked);
    if (!isAsked) return;
    const [{ command, args, cwd }] = await api.mcp.provideMcpServerDefinitions();
    assert.deepEqual([cwd.fsPath, args], ['/', ['mcp', '-C', vscode.workspace.workspaceFolders[0].uri.fsPath]]);
    const said = execFileSync(command, args, { cwd: cwd.fsPath, encoding: 'utf8', input: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n' });
    assert.deepEqual(JSON.parse(said).result.tools.map(({ name }) => name), extension().packageJSON.contributes.languageModelTools.map(({ name }) => name));
  });

  it('starts what its user has seen, tells how it does, and what it changed', async () => {
    const input = { prompt, maxIterations: 3, verify: 'true' };
    const { title, message } = await api.chat.question('ralph_start', input);
    assert.equal(title, 'Start a Ralph loop?');
    for (const want of [prompt, 'at most 3 iterations', 'true', 'Permissions']) assert.ok(message.value.replace(/\\(.)/g, '$1').includes(want), want);
    assert.equal(await api.chat.question('ralph_status', {}), undefined, 'who only looks asks nobody');
    const loopId = (await api.chat.tool('ralph_start', input)).split(':')[0];
    await until('the end', () => api.loops.byId(loopId)?.state === 'ended');
    assert.match(await api.chat.tool('ralph_status', {}), new RegExp(`${loopId}.*done`));
    assert.match(await api.chat.tool('ralph_changes', { loopId }), /made.txt: added/);
    await assert.rejects(api.chat.tool('ralph_changes', { loopId: 'another' }), /no Ralph loop/);
    await assert.rejects(api.chat.question('ralph_start', { ...input, trust: true }), /unknown key trust/);
    await assert.rejects(api.chat.tool('ralph_start', { prompt: ' ' }), /prompt is missing/);
  });

  it('answers its user: a start is followed to its end', async () => {
    const said = await answer({ prompt });
    assert.match(said.text, /pi 0\.80\.3[\s\S]*done: DONE/);
    assert.ok(said.progress.length > 0);
    assert.deepEqual(said.files, [vscode.Uri.file(file('made.txt', here)).toString()]);
    assert.deepEqual(said.buttons.map(([, command]) => command), ['ralph.showOutput', 'ralph.openChanges']);
    assert.match((await answer({ command: 'status' })).text, /done/);
    assert.match((await answer({ command: 'changes' })).text, /1 file/);
  });

  it('tells the loop that runs, and ends none by looking away', async () => {
    const look = new vscode.CancellationTokenSource();
    const first = answer({ command: 'start', prompt: 'wait' }, look.token);
    const loop = await until('the agent', () => api.loops.status.find((l) => l.busy));
    look.cancel();
    await first;
    assert.equal(api.loops.byId(loop.loopId).live, true);
    assert.match((await answer({ prompt: 'mind the tests' })).text, /: mind the tests/);
    assert.match((await api.chat.question('ralph_steer', { text: 'no *more*' })).message.value, /no \\\*more/);
    assert.match(await api.chat.tool('ralph_steer', { text: 'no more', loopId: loop.loopId }), /told/);
    const refused = await answer({ command: 'start', prompt });
    assert.match(refused.text, /loop/);
    assert.ok(refused.buttons.length > 0, 'what can be done is offered');
    await vscode.commands.executeCommand('ralph.cancel', { loopId: loop.loopId });
  });

  it('offers an editor for what it was not told', async () => {
    assert.deepEqual((await answer({ command: 'start' })).buttons, [['Start a loop...', 'ralph.start']]);
  });
});
