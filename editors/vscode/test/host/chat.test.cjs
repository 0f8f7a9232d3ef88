// Loops in the chat: what the participant answers, and what the tools of models do.
const assert = require('node:assert/strict');
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
    assert.deepEqual(names.sort(), Object.keys(api.chat.tools).sort());
  });

  it('starts what its user has seen, tells how it does, and what it changed', async () => {
    const { ralph_start: start, ralph_status: status, ralph_changes: changes } = api.chat.tools;
    const { message } = await start.ask({ prompt, maxIterations: 3, verify: 'true' });
    for (const want of [prompt, 'at most 3 iterations', 'true', 'Permissions']) assert.ok(message.value.replace(/\\(.)/g, '$1').includes(want), want);
    const loopId = (await start.run({ prompt, maxIterations: 3, trust: true, args: ['--evil'] })).split(' ')[0];
    await until('the end', () => api.loops.byId(loopId)?.state === 'ended');
    assert.match(await status.run({}), new RegExp(`${loopId}.*done`));
    assert.match(await changes.run({ loopId }), /made.txt: added/);
    await assert.rejects(changes.run({ loopId: 'another' }), /no Ralph loop/);
    await assert.rejects(start.run({ prompt: ' ' }), /prompt is missing/);
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
    assert.match((await api.chat.tools.ralph_steer.ask({ text: 'no *more*' })).message.value, /no \\\*more/);
    assert.match(await api.chat.tools.ralph_steer.run({ text: 'no more', loopId: loop.loopId }), /: no more/);
    const refused = await answer({ command: 'start', prompt });
    assert.match(refused.text, /loop/);
    assert.ok(refused.buttons.length > 0, 'what can be done is offered');
    await vscode.commands.executeCommand('ralph.cancel', { loopId: loop.loopId });
  });

  it('offers an editor for what it was not told', async () => {
    assert.deepEqual((await answer({ command: 'start' })).buttons, [['Start a loop...', 'ralph.start']]);
  });
});
