// What an agent waits to be told. The loop that asks, and the server that is told, are played here.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');
const { extension, until, folder, setting, quiet } = require('./world.cjs');

const questions = () => JSON.parse(fs.readFileSync(path.join(extension().extensionPath, '../../testdata/wire/questions.json'), 'utf8'));
const run = (id, argument) => vscode.commands.executeCommand(id, argument);

describe('what an agent asks', () => {
  let api, real, shown, told, typed, picked, lateWords;
  const asked = () => {
    const it = { loopId: 'asking', folder: folder().toString() };
    return questions().map((q) => ({ ...q, ...it, offers: q.offers.map((o) => ({ ...o, arguments: [{ ...o.arguments[0], ...it }] })) }));
  };
  const status = (...open) => api.sidecar.statusEmitter.fire({
    message: '', loops: [{ loopId: 'asking', folder: folder().toString(), title: 'app', state: 'waiting', text: 'asks', line: 'asks', class: 'warning', live: true, busy: false, owned: true, can: ['answer'], questions: open.length > 0 ? open : undefined }],
  });
  /** The request of the server; withdraw is its end. */
  const ask = (q) => {
    const source = new vscode.CancellationTokenSource();
    return { answer: api.sidecar.permissions(q, source.token), withdraw: () => source.cancel() };
  };
  const last = () => until('a notification', () => shown.at(-1));
  const press = async (label) => (await last()).press(label);

  before(async () => (api = await extension().activate()));
  beforeEach(async () => {
    await quiet(api);
    const { showInformationMessage, showWarningMessage, showInputBox, showQuickPick } = vscode.window;
    real = { showInformationMessage, showWarningMessage, showInputBox, showQuickPick };
    [shown, told, typed, picked, lateWords] = [[], [], undefined, undefined, undefined];
    vscode.window.showWarningMessage = (message, ...buttons) => new Promise((press) => shown.push({ message, buttons, press }));
    vscode.window.showInformationMessage = async (words) => void (lateWords = words);
    vscode.window.showInputBox = async (options) => typed?.(options);
    vscode.window.showQuickPick = async (items, options) => items.find((i) => i.label === picked?.(options));
    const execute = api.sidecar.execute.bind(api.sidecar);
    api.sidecar.execute = (id, argument) => (id === 'ralph.loop.answer' ? Promise.resolve({ text: 'told', ...void told.push(argument) }) : execute(id, argument));
  });
  afterEach(async () => {
    Object.assign(vscode.window, real);
    delete api.sidecar.execute;
    api.sidecar.statusEmitter.fire({ message: '', loops: [] });
  });

  it('is asked with a notification that has buttons, the safe one first, and words that can be read out', async () => {
    const [q] = asked();
    status(q);
    const { answer } = ask(q);
    assert.deepEqual({ ...(await last()), press: 0 }, { message: 'Ralph (app) asks: Bash git commit -m wip', buttons: ['Deny', 'Allow Once', 'Show'], press: 0 });
    await press('Allow Once');
    assert.equal(await answer, null);
    assert.deepEqual(told, [{ loopId: 'asking', folder: folder().toString(), id: 'q1', answer: 'once', text: undefined }]);
  });

  it('has a list where there are more answers than buttons, or words are to be typed', async () => {
    for (const q of asked().filter((one) => one.kind === 'input' || one.offers.length > 3)) {
      status(q);
      const { withdraw } = ask(q);
      assert.deepEqual((await last()).buttons, [q.offers[0].title, 'Answer...', 'Show']);
      withdraw();
      shown.length = 0;
    }
  });

  it('is answered by nobody who comes late', async () => {
    const [q] = asked();
    status(q);
    const { answer, withdraw } = ask(q);
    await last();
    status(); // another editor was faster
    withdraw();
    assert.equal(await answer, null);
    await press('Allow Once');
    await until('that it is late', () => told.length > 0 || lateWords === 'That needs no answer any more.');
    assert.deepEqual(told, []);
  });

  it('asks for no more words when it needs no answer any more', async () => {
    const [q] = asked();
    status(q);
    const { withdraw } = ask(q);
    let closed;
    vscode.window.showInputBox = (_, token) => new Promise((resolve) => {
      closed = false;
      token.onCancellationRequested(() => resolve(void (closed = true)));
    });
    const denied = press('Deny');
    await until('the words are asked for', () => closed === false);
    status(); // another editor was faster
    withdraw();
    await denied;
    await until('the words are given up', () => closed);
    assert.equal(closed, true);
    assert.deepEqual(told, []);
  });

  it('is denied with words, or without', async () => {
    const [q] = asked();
    status(q);
    typed = () => 'not that one';
    await run('ralph.loop.answer', { loopId: 'asking', id: 'q1', answer: 'deny' }); // as in the transcript
    typed = () => undefined; // Escape
    await run('ralph.loop.answer', { loopId: 'asking', id: 'q1', answer: 'deny' });
    assert.deepEqual(told.map((t) => [t.answer, t.text]), [['deny', 'not that one'], ['deny', undefined]]);
  });

  it('queues, the oldest first', async () => {
    const all = asked();
    status(...all);
    const requests = all.map((q) => ask(q));
    assert.match((await last()).message, new RegExp(`\\(1 of ${all.length}\\)`));
    assert.equal(shown.length, 1);
    requests[0].withdraw();
    await until('the next one', () => shown.length === 2);
    assert.match((await last()).message, new RegExp(`^Ralph \\(app\\) scout asks: Edit src/a\\.go \\(1 of ${all.length - 1}\\)`));
    for (const { withdraw } of requests) withdraw();
    for (const { answer } of requests) assert.equal(await answer, null);
  });

  it('is left open by who closes it, and answered later', async () => {
    const q = asked().find((one) => one.kind === 'input');
    status(q);
    const { answer } = ask(q);
    await press(undefined);
    assert.equal(await answer, null);
    picked = () => 'Write an answer...';
    typed = ({ placeHolder }) => `${placeHolder}-rc1`;
    await run('ralph.answer');
    assert.deepEqual(told.map((t) => [t.answer, t.text]), [['value', '1.2.3-rc1']]);
  });

  it('has no link of its agent’s', async () => {
    const [q] = asked();
    status(q);
    const { withdraw } = ask({ ...q, text: 'asks: Bash [here](command:workbench.action.quit)' });
    assert.ok(!(await last()).message.includes('](command:workbench'));
    withdraw();
  });

  it('has none where words are typed either', async () => {
    const input = { ...asked().find((one) => one.kind === 'input'), detail: 'see [here](command:workbench.action.quit)' };
    status(input);
    picked = () => 'Write an answer...';
    typed = ({ prompt }) => prompt;
    await run('ralph.answer');
    assert.deepEqual(told.map((t) => t.text), ['see [here] (command:workbench.action.quit)']);
  });

  it('names its loop, which may be told of later, and is asked all the same where it never is', async () => {
    const [q] = asked();
    const late = ask(q);
    status(q);
    assert.match((await last()).message, /^Ralph \(app\) asks:/);
    late.withdraw();
    api.sidecar.statusEmitter.fire({ message: '', loops: [] });
    const never = ask(q);
    await until('the other one', () => shown.length === 2);
    assert.match((await last()).message, /^Ralph asks:/);
    never.withdraw();
  });

  it('is asked for in all loops by a setting, which no workspace has', async () => {
    const { inspect, update } = vscode.workspace.getConfiguration('ralph');
    assert.equal(inspect('permissions').defaultValue, '');
    await assert.rejects(Promise.resolve(update('permissions', 'ask', vscode.ConfigurationTarget.Workspace)));
    await setting('ralph.permissions', 'ask');
    try {
      const { problems } = await run('ralph.loop.start', { folder: folder().toString(), prompt: 'x', backend: 'pi', dryRun: true });
      assert.match(problems[0].text, /pi can't ask you before version/); // the stand-in is as old as that
    } finally {
      await setting('ralph.permissions', undefined);
    }
  });

  it('is answered late without an answer', async () => {
    status();
    await run('ralph.answer', { loopId: 'asking', id: 'q1' });
    assert.deepEqual(told, []);
  });
});
