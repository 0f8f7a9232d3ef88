const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');
const { extension, until, folder, file, setting, quiet, loopIn } = require('./world.cjs');

const run = (id, ...args) => vscode.commands.executeCommand(id, ...args);
const here = 2; // the workspace's folder that is a repository
const repository = () => folder(here).toString();
const at = (name) => file(name, here);
const read = (name) => fs.readFileSync(at(name), 'utf8');
const git = (...args) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder(here).fsPath, encoding: 'utf8' });
const lines = (...changed) => Array.from({ length: 9 }, (_, i) => changed.find((c) => c.startsWith(`${i + 1} `)) ?? `${i + 1}`).join('\n') + '\n';
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

const activeTab = () => vscode.window.tabGroups.activeTabGroup.activeTab;
/** Both sides of the diff that a command opens. */
async function sidesOf(argument, command = 'ralph.openChanges') {
  await run('workbench.action.closeAllEditors');
  await run(command, argument);
  const tab = await until('the diff', () => activeTab()?.input instanceof vscode.TabInputTextDiff && activeTab());
  const [before, after] = await Promise.all([tab.input.original, tab.input.modified].map((uri) => vscode.workspace.openTextDocument(uri)));
  return { before, after, label: tab.label };
}
const textsOf = async (...args) => {
  const { before, after } = await sidesOf(...args);
  return [before.getText(), after.getText()];
};

describe('what a loop changed', () => {
  let api;
  before(async () => (api = await extension().activate()));
  after(() => run('workbench.action.closeAllEditors'));

  /** Runs a loop whose agent does these scripts in the shell, one in each iteration. */
  async function loopDoes(...scripts) {
    await quiet(api);
    for (const name of fs.readdirSync(folder(here).fsPath)) if (name !== '.git') fs.rmSync(at(name), { recursive: true });
    for (const name of ['a.txt', 'gone.txt']) fs.writeFileSync(at(name), lines());
    fs.writeFileSync(at('old.txt'), 'old\n'.repeat(9));
    fs.writeFileSync(at('logo.png'), pixel);
    scripts.forEach((script, i) => fs.writeFileSync(at(`do-${i + 1}.sh`), script));
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'before');
    const { loopId } = await run('ralph.start', { folder: repository(), prompt: `do ${scripts.length}`, completionPromise: 'DONE' });
    await until('the end', () => api.loops.byId(loopId)?.stopReason === 'promise');
    return loopId;
  }
  const filesOf = async (target) => (await api.changes.of(target)).files.map((f) => [f.status, f.from, f.path, f.text].filter(Boolean).join(' '));

  it('is there whoever changed it, by iteration, also of a past loop and after a restart @oldest', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/2 one/" a.txt; rm gone.txt; mv old.txt new.txt', 'echo x > "made é.txt"; chmod +x a.txt; git add -A; git -c user.name=a -c user.email=a@a commit -qm mine');
    const want = async () => {
      assert.deepEqual(await filesOf({ loopId, iteration: 1 }), ['modified a.txt +1 -1', 'deleted gone.txt +0 -9', 'renamed old.txt new.txt +0 -0']);
      assert.deepEqual(await filesOf({ loopId, iteration: 2 }), ['mode a.txt mode', 'added made é.txt +1 -0']);
      assert.deepEqual(await filesOf({ loopId }), ['modified a.txt +1 -1', 'deleted gone.txt +0 -9', 'added made é.txt +1 -0', 'renamed old.txt new.txt +0 -0']);
    };
    await want();
    await run('ralph.start', { folder: repository(), prompt: 'promise X', completionPromise: 'X' });
    await until('another loop', () => loopIn(api, here)?.loopId !== loopId && loopIn(api, here)?.stopReason === 'promise');
    await run('ralph.restartServer');
    await until('the sidecar', () => api.sidecar.state.state === 'running');
    await want();
    assert.deepEqual(await textsOf({ loopId, iteration: 1, paths: ['a.txt'] }), [lines(), lines('2 one')]);
  });

  it('opens with the file itself on the right, where no later iteration changed it @oldest', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/2 one/" a.txt', 'sed -i "s/^8$/8 two/" a.txt');
    fs.writeFileSync(at('a.txt'), lines('2 one', '5 mine', '8 two'));
    const itself = vscode.Uri.file(at('a.txt')).toString();
    const first = await sidesOf({ loopId, iteration: 1, paths: ['a.txt'] });
    assert.deepEqual([first.before.getText(), first.after.getText(), first.after.uri.scheme], [lines(), lines('2 one'), 'ralph-snapshot']);
    const second = await sidesOf({ loopId, iteration: 2, paths: ['a.txt'] });
    assert.deepEqual([second.before.getText(), second.after.uri.toString()], [lines('2 one'), itself]);
    const compared = await sidesOf({ loopId, iteration: 1, paths: ['a.txt'] }, 'ralph.compareWithFile');
    assert.deepEqual([compared.before.getText(), compared.after.uri.toString()], [lines(), itself]);
    const all = await sidesOf({ folder: repository(), paths: ['a.txt'] });
    assert.deepEqual([all.before.getText(), all.after.uri.toString()], [lines(), itself]);
    assert.deepEqual([first.label, second.label, all.label], ['a.txt (iteration 1)', 'a.txt (iteration 2)', 'a.txt (what Ralph changed)']);
  });

  it('shows what was added, deleted, renamed or is a link', async () => {
    const loopId = await loopDoes('echo x > made.txt; rm gone.txt; mv old.txt new.txt; echo one >> new.txt; ln -s a.txt link.txt');
    const sides = (name) => textsOf({ loopId, iteration: 1, paths: [name] });
    assert.deepEqual(await sides('made.txt'), ['', 'x\n']);
    assert.deepEqual(await sides('gone.txt'), [lines(), '']);
    assert.deepEqual(await sides('new.txt'), ['old\n'.repeat(9), `${'old\n'.repeat(9)}one\n`]);
    assert.deepEqual(await sides('link.txt'), ['', 'a.txt']);
  });

  it('opens an iteration and the loop in the editor of many files @oldest', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/2 one/" a.txt; rm gone.txt', 'echo x > made.txt');
    for (const [argument, label] of [[{ loopId, iteration: 1 }, /^Iteration 1/], [{ folder: repository() }, /^What Ralph changed/]]) {
      await run('workbench.action.closeAllEditors');
      await run('ralph.openChanges', argument);
      await until(String(label), () => label.test(activeTab()?.label ?? ''));
    }
  });

  it('has the bytes of pictures, and can not be written to', async () => {
    const loopId = await loopDoes('printf "\\211PNG\\r\\n\\032\\n\\000new" > logo.png');
    await run('workbench.action.closeAllEditors');
    await run('ralph.openChanges', { loopId, iteration: 1, paths: ['logo.png'] });
    await until('the pictures', () => activeTab()?.label === 'logo.png ↔ logo.png');
    const uri = api.snapshots.uri({ loopId, folder: repository(), before: 1 }, 'logo.png');
    assert.deepEqual(Buffer.from(await vscode.workspace.fs.readFile(uri)), pixel);
    await assert.rejects(async () => vscode.workspace.fs.writeFile(uri, pixel));
  });

  it('is kept, also after a restart, until the loop changes it again @oldest', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/2 one/" a.txt; echo x > made.txt');
    const kept = async () => (await api.changes.of({ loopId })).files.filter((f) => f.kept).map((f) => f.path);
    assert.deepEqual(await kept(), []);
    assert.match((await run('ralph.keepChanges', { loopId, paths: ['a.txt'] })).text, /1 file kept/);
    assert.deepEqual(await kept(), ['a.txt']);
    await run('ralph.restartServer');
    await until('the sidecar', () => api.sidecar.state.state === 'running');
    assert.deepEqual(await kept(), ['a.txt']);
    const [base] = await textsOf({ loopId, paths: ['a.txt'], review: true });
    assert.equal(base, lines('2 one'));
    await run('ralph.reviewAgain', { loopId, paths: ['a.txt'] });
    assert.deepEqual(await kept(), []);
    assert.equal((await textsOf({ loopId, paths: ['a.txt'], review: true }))[0], lines());
    await run('ralph.keepChanges', { loopId, iteration: 1 });
    assert.deepEqual(await kept(), ['a.txt', 'made.txt']);
  });

  it('is undone and redone, and what the user did elsewhere stays @oldest', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/2 one/" a.txt; mv old.txt new.txt', 'sed -i "s/^8$/8 two/" a.txt; rm gone.txt');
    fs.writeFileSync(at('a.txt'), lines('2 one', '5 mine', '8 two'));
    const result = await run('ralph.undoChanges', { loopId, iteration: 1, ask: false });
    assert.deepEqual([result.undone, result.refused], [['a.txt', 'new.txt', 'old.txt'], []]);
    assert.equal(read('a.txt'), lines('5 mine', '8 two'));
    assert.ok(fs.existsSync(at('old.txt')) && !fs.existsSync(at('new.txt')));
    await run('ralph.redoChanges', { loopId });
    assert.equal(read('a.txt'), lines('2 one', '5 mine', '8 two'));
    await run('ralph.undoChanges', { loopId, iteration: 1, paths: ['new.txt'], ask: false }); // both names of it
    assert.ok(fs.existsSync(at('old.txt')) && !fs.existsSync(at('new.txt')));
    await run('ralph.undoChanges', { loopId, ask: false });
    assert.equal(read('a.txt'), lines('5 mine'));
    assert.ok(fs.existsSync(at('gone.txt')));
  });

  it('is known anew after an undo in a terminal', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/2 one/" a.txt; echo x > made.txt');
    assert.deepEqual(await filesOf({ loopId }), ['modified a.txt +1 -1', 'added made.txt +1 -0']);
    let times = 0;
    const subscription = api.changes.onChange(() => times++);
    execFileSync(vscode.workspace.getConfiguration('ralph').get('server.path'), ['undo', '--since', '1'], { cwd: folder(here).fsPath });
    await until('the news', () => times > 0);
    await until('nothing', async () => (await filesOf({ loopId })).length === 0);
    subscription.dispose();
  });

  it('is left where the user has changed the same place', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/2 one/" a.txt; echo x > made.txt');
    fs.writeFileSync(at('a.txt'), lines('2 mine'));
    const { undone, refused } = await run('ralph.undoChanges', { loopId, ask: false });
    assert.deepEqual([undone, refused.map((r) => r.path)], [['made.txt'], ['a.txt']]);
    assert.equal(read('a.txt'), lines('2 mine'));
  });

  /** What a question says while answer is given to it. */
  async function asked(answer, body) {
    const { showWarningMessage, showErrorMessage } = vscode.window;
    const questions = [];
    vscode.window.showErrorMessage = (message) => Promise.resolve(void questions.push(message));
    vscode.window.showWarningMessage = (message, options, ...buttons) => {
      if (options.modal) questions.push([message, options.detail, ...buttons].join('\n'));
      return Promise.resolve(answer);
    };
    try {
      await body();
    } finally {
      Object.assign(vscode.window, { showWarningMessage, showErrorMessage });
    }
    return questions;
  }

  it('is undone only once the user agrees to what that does', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/2 one/" a.txt; echo x > made.txt; sed -i "s/^2$/2 one/" gone.txt');
    fs.writeFileSync(at('gone.txt'), lines('2 mine'));
    const [question] = await asked(undefined, () => run('ralph.undoChanges', { loopId, iteration: 1 }));
    for (const part of ['2 files would be undone; 1 is left as it is', 'a.txt', 'made.txt', 'gone.txt is left as it is', 'Undo']) assert.ok(question.includes(part), `${part} in ${question}`);
    assert.equal(read('a.txt'), lines('2 one'));
    assert.equal((await asked('Undo', () => run('ralph.undoChanges', { loopId, iteration: 1 }))).length, 1);
    assert.equal(read('a.txt'), lines());
  });

  it('is not undone over what is not saved', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/2 one/" a.txt');
    const document = await vscode.workspace.openTextDocument(at('a.txt'));
    await vscode.window.showTextDocument(document);
    await until('what the loop wrote', () => document.getText() === lines('2 one'));
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(4, 0, 4, 1), '5 mine');
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.ok(document.isDirty);
    const undo = () => run('ralph.undoChanges', { loopId, ask: false });
    const [question] = await asked(undefined, undo);
    assert.match(String(question), /a\.txt has changes that are not saved[^]*Save and Go On/);
    assert.deepEqual([document.isDirty, document.getText(), read('a.txt')], [true, lines('2 one', '5 mine'), lines('2 one')]);
    await asked('Save and Go On', undo);
    assert.equal(read('a.txt'), lines('5 mine'));
    await until('the editor shows it', () => document.getText() === lines('5 mine') && !document.isDirty);
    const again = new vscode.WorkspaceEdit();
    again.replace(document.uri, new vscode.Range(6, 0, 6, 1), '7 mine');
    assert.ok(await vscode.workspace.applyEdit(again));
    const redo = () => run('ralph.redoChanges', { loopId });
    assert.equal((await asked(undefined, redo)).length, 1);
    assert.equal(read('a.txt'), lines('5 mine'));
    await asked('Save and Go On', redo);
    assert.equal(read('a.txt'), lines('2 one', '5 mine', '7 mine'));
  });

  it('is not what was saved in the editor since a run that was cut off', async () => {
    await quiet(api);
    for (const name of fs.readdirSync(folder(here).fsPath)) if (name !== '.git') fs.rmSync(at(name), { recursive: true });
    for (const name of ['a.txt', 'b.txt']) fs.writeFileSync(at(name), lines());
    fs.writeFileSync(at('do-1.sh'), 'echo agent > a.txt; echo agent > b.txt; echo yes > ready; exec sleep 900');
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'before');
    const { loopId } = await run('ralph.start', { folder: repository(), prompt: 'do 1', completionPromise: 'DONE' });
    await until('the agent has worked', () => fs.existsSync(at('ready')));
    process.kill(JSON.parse(read('.pi/ralph-loop.local.lock')).pid, 'SIGKILL');
    await until('it is interrupted', () => api.loops.byId(loopId)?.state === 'interrupted');
    const document = await vscode.workspace.openTextDocument(at('b.txt'));
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), 'mine\n');
    await vscode.workspace.applyEdit(edit);
    assert.ok(await document.save());
    const { undone } = await run('ralph.undoChanges', { loopId, ask: false });
    assert.deepEqual([undone, read('a.txt'), read('b.txt')], [['a.txt', 'ready'], lines(), 'mine\n']);
    await quiet(api);
  });

  it('is not undone under the hands of an agent: the loop can be paused instead', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/2 one/" a.txt');
    await run('ralph.start', { folder: repository(), prompt: 'wait' });
    await until('the tool', () => loopIn(api, here)?.tool);
    const { showWarningMessage } = vscode.window;
    let told;
    vscode.window.showWarningMessage = (...args) => Promise.resolve(void (told = args));
    try {
      await run('ralph.undoChanges', { loopId, ask: false });
    } finally {
      vscode.window.showWarningMessage = showWarningMessage;
    }
    assert.match(told[0], /iteration 1 is at work/);
    assert.deepEqual(told.slice(1), ['Pause the Loop']);
    assert.equal(read('a.txt'), lines('2 one'));
  });

  /** What source control compares a file with, once it is this loop's. */
  const originalOf = (loopId, name) => {
    const uri = api.sourceControls.originalOf(vscode.Uri.file(at(name)));
    return uri?.query.includes(loopId) ? uri : undefined;
  };

  it('goes back block by block from the gutter', async () => {
    const loopId = await loopDoes('sed -i "s/^1$/1 one/; s/^5$/5 one/; /^9$/d" a.txt; sed -i "\\$a 10" gone.txt; sed -i 1d old.txt');
    const revert = async (name, change) => {
      const uri = vscode.Uri.file(at(name));
      const document = await vscode.workspace.openTextDocument(uri);
      await until('what the loop wrote', () => document.getText() === read(name));
      const [originalStartLineNumber, originalEndLineNumber, modifiedStartLineNumber, modifiedEndLineNumber] = change;
      await run('ralph.revertChange', uri, [undefined, { originalStartLineNumber, originalEndLineNumber, modifiedStartLineNumber, modifiedEndLineNumber }], 1);
      assert.equal(document.isDirty, false);
      return read(name);
    };
    await until('the source control', () => originalOf(loopId, 'a.txt'));
    assert.equal(await revert('a.txt', [5, 5, 5, 5]), lines('1 one').replace('9\n', ''));
    assert.equal(await revert('a.txt', [9, 9, 8, 0]), lines('1 one'));
    assert.equal(await revert('gone.txt', [9, 0, 10, 10]), lines());
    assert.equal(await revert('old.txt', [1, 1, 0, 0]), 'old\n'.repeat(9));
  });

  it('is kept block by block in the gutter', async () => {
    const loopId = await loopDoes('sed -i "s/^1$/1 one/; s/^5$/5 one/" a.txt; echo 10 >> gone.txt');
    const keep = async (name, ...change) => {
      const [originalStartLineNumber, originalEndLineNumber, modifiedStartLineNumber, modifiedEndLineNumber] = change;
      const uri = vscode.Uri.file(at(name));
      const document = await vscode.workspace.openTextDocument(uri);
      await until('what the loop wrote', () => document.getText() === read(name));
      const { kept } = await run('ralph.keepChange', uri, [{ originalStartLineNumber, originalEndLineNumber, modifiedStartLineNumber, modifiedEndLineNumber }], 0);
      const base = await vscode.workspace.openTextDocument(originalOf(loopId, name));
      return { kept, base };
    };
    await until('the source control', () => originalOf(loopId, 'a.txt'));
    const { kept, base } = await keep('a.txt', 5, 5, 5, 5);
    assert.deepEqual(kept, []);
    await until('the new base', () => base.getText() === lines('5 one'));
    assert.deepEqual((await keep('a.txt', 1, 1, 1, 1)).kept, ['a.txt']);
    assert.deepEqual((await keep('gone.txt', 9, 0, 10, 10)).kept, ['gone.txt']);
  });

  it('is in the source control of its folder, unless a setting says no', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/2 one/" a.txt; mv old.txt new.txt; echo one >> new.txt');
    const original = () => originalOf(loopId, 'a.txt');
    await until('the original', original);
    assert.equal((await vscode.workspace.openTextDocument(original())).getText(), lines());
    assert.equal(originalOf(loopId, 'gone.txt'), undefined);
    const renamed = await vscode.workspace.openTextDocument(originalOf(loopId, 'new.txt'));
    assert.equal(renamed.getText(), 'old\n'.repeat(9));
    await setting('ralph.changes.sourceControl', false);
    await until('none', () => !original());
    await setting('ralph.changes.sourceControl', undefined);
    await until('the original', original);
    const document = await vscode.workspace.openTextDocument(original());
    await run('ralph.keepChanges', { loopId });
    await until('nothing to review', () => document.getText() === lines('2 one'));
    await run('ralph.undoChanges', { loopId, ask: false });
    await until('none', () => !original());
  });

  it('is counted in the badge of source control once, by git where that has it', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/2 one/" a.txt; echo x > made.txt');
    await until('the original', () => originalOf(loopId, 'a.txt'));
    const { control } = api.sourceControls.shown.get(repository());
    assert.equal(control.count, 2);
    await setting('git.enabled', true);
    try {
      await until('git has both', () => control.count === 0);
      git('add', 'a.txt');
      git('commit', '-q', '-m', 'mine');
      await until('git has one of them', () => control.count === 1);
    } finally {
      await setting('git.enabled', false);
    }
    await until('git has none', () => control.count === 2);
  });

  it('is remarked on, and what was said is sent together, with its place and what it is about', async () => {
    const loopId = await loopDoes('sed -i "s/^2$/two/; s/^8$/eight/" a.txt', 'sleep 1');
    const { after: now } = await sidesOf({ loopId, iteration: 1, paths: ['a.txt'] });
    assert.equal(await run('ralph.remark.send'), 0, 'there is none');
    api.comments.on(now.uri, new vscode.Range(7, 0, 7, 0), 'Why 8?');
    api.comments.on(now.uri, new vscode.Range(1, 0, 1, 0), 'Why 2?');
    const execute = api.sidecar.execute.bind(api.sidecar);
    const starts = [];
    api.sidecar.execute = (id, argument) => (id === 'ralph.loop.start' && !argument.dryRun ? (starts.push(argument), Promise.reject(new Error('not today'))) : execute(id, argument));
    await run('ralph.remark.send');
    assert.equal(starts.length, 1);
    assert.match(starts[0].prompt, /^Remarks on your changes:\n\na\.txt:2 \(.*\)\n```diff\n-2\n\+two\n```\nWhy 2\?\n\na\.txt:8 \(.*\)\n```diff\n-8\n\+eight\n```\nWhy 8\?$/);
    api.sidecar.execute = (id, argument) => (id === 'ralph.loop.start' ? Promise.resolve({ loopId: 'other', state: 'running', stateFileUri: '' }) : execute(id, argument));
    assert.equal(await run('ralph.remark.send'), 2, 'what did not arrive is still there');
    assert.equal(await run('ralph.remark.send'), 0);
    delete api.sidecar.execute;
  });
});
