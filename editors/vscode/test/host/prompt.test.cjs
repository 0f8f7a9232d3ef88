const assert = require('node:assert/strict');
const vscode = require('vscode');
const { extension, until, folder, quiet } = require('./world.cjs');

const run = (id, ...args) => vscode.commands.executeCommand(id, ...args);

describe('what is chosen for a start', () => {
  let api;
  before(async () => (api = await extension().activate()));
  beforeEach(() => quiet(api));
  afterEach(() => run('workbench.action.closeAllEditors'));

  it('is kept when another question is opened before the server has checked it', async () => {
    const { createInputBox } = vscode.window;
    const execute = api.sidecar.execute.bind(api.sidecar);
    const boxes = [];
    let check;
    const checked = new Promise((resolve) => (check = resolve));
    vscode.window.createInputBox = () => {
      const box = createInputBox();
      box.onDidHide(() => (box.hidden = true));
      box.onDidAccept(() => (box.accepted = true));
      boxes.push(box);
      return box;
    };
    /** Writes an answer, and presses Enter. */
    const answer = async (what, text) => {
      const before = boxes.length;
      void run('ralph.prompt.options', what);
      const box = await until(what, () => boxes[before]);
      box.value = text;
      await until(`Enter in ${what}`, async () => {
        await run('workbench.action.acceptSelectedQuickOpenItem');
        return box.accepted;
      });
      return box;
    };
    try {
      await run('ralph.start', { folder: folder().toString() });
      api.sidecar.execute = async (...args) => {
        await checked;
        return execute(...args);
      };
      const limits = await answer('Limits', '7');
      await answer('Promise', 'SHIPPED');
      await until('the first box to make room', () => limits.hidden);
      check();
      const { uri } = vscode.window.activeTextEditor.document;
      await until('both answers', async () => {
        const titles = (await run('vscode.executeCodeLensProvider', uri)).map((l) => l.command.title).join('\n');
        return /at most 7 iterations/.test(titles) && /SHIPPED/.test(titles);
      });
    } finally {
      check();
      delete api.sidecar.execute;
      vscode.window.createInputBox = createInputBox;
      await run('ralph.start', { folder: folder().toString(), limitsText: undefined, completionPromise: undefined });
    }
    assert.equal(boxes.length, 2);
  });
});
