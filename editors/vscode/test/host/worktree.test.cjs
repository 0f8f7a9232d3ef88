// A loop in a git worktree of its own, and what becomes of what it did there.
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const vscode = require('vscode');
const { extension, until, folder, file, quiet } = require('./world.cjs');

const here = 2; // the workspace's folder that is a repository
const repository = () => folder(here).toString();
const git = (...args) => execFileSync('git', args, { cwd: folder(here).fsPath, encoding: 'utf8' }).trim();

describe('a loop in a worktree', () => {
  let api, real, told;
  /** Presses a button wherever it is offered, once that is ready. */
  const press = (title, ready) => {
    vscode.window.showQuickPick = async (items) => items.find((i) => i.label === title);
    for (const show of Object.keys(real).filter((name) => name !== 'showQuickPick')) {
      vscode.window[show] = async (message, ...buttons) => {
        told.push(message);
        await ready;
        return buttons.find((b) => (b.title ?? b) === title) ?? buttons.find((b) => b === 'More...');
      };
    }
  };
  const says = (pattern) => until(String(pattern), () => told.some((message) => pattern.test(message)));

  before(async () => (api = await extension().activate()));
  beforeEach(async () => {
    await quiet(api);
    const { showInformationMessage, showWarningMessage, showErrorMessage, showQuickPick } = vscode.window;
    [real, told] = [{ showInformationMessage, showWarningMessage, showErrorMessage, showQuickPick }, []];
    git('config', 'user.name', 'Ann');
    git('config', 'user.email', 'ann@example.com');
    fs.writeFileSync(file('do-1.sh', here), 'echo made > made.txt\n');
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'before');
  });
  afterEach(() => Object.assign(vscode.window, real));

  /** Runs a loop to its end, where one of its offers is pressed; returns its worktree. */
  async function ends(branch, offer) {
    let isSeen; // a loop that has landed leaves the list
    press(offer, new Promise((resolve) => (isSeen = resolve)));
    const { loopId } = await vscode.commands.executeCommand('ralph.start', { folder: repository(), prompt: 'do 1', completionPromise: 'DONE', worktree: branch });
    const { worktree } = await until('it is known', () => api.loops.byId(loopId));
    isSeen();
    assert.equal(vscode.Uri.parse(worktree.repository).toString(), repository()); // it stands below it
    assert.equal(worktree.branch, branch);
    return vscode.Uri.parse(worktree.path).fsPath;
  }

  it('lands what it did on the branch of its repository @oldest', async () => {
    const path = await ends('landed', 'Land');
    await says(/landed 1 commit of landed on /);
    assert.equal(fs.readFileSync(file('made.txt', here), 'utf8'), 'made\n');
    assert.deepEqual([git('status', '--short'), git('branch', '--list', 'landed'), fs.existsSync(path)], ['', '', false]);
    git('rm', '-q', 'made.txt');
  });

  it('is discarded once the user has agreed to what is lost', async () => {
    const path = await ends('unwanted', 'Discard Worktree');
    await says(/Discard unwanted\? It has 1 uncommitted file \(made\.txt\)/);
    await says(/discarded unwanted/);
    assert.deepEqual([git('status', '--short'), git('branch', '--list', 'unwanted'), fs.existsSync(path)], ['', '', false]);
  });
});
