const assert = require('node:assert/strict');
const fs = require('node:fs');
const vscode = require('vscode');
const { extension, until, folder, file, quiet } = require('./world.cjs');

const run = (id, ...args) => vscode.commands.executeCommand(id, ...args);
const here = 2; // the workspace's folder that is a repository
const at = (name) => file(name, here);
const write = (name, text) => fs.writeFileSync(at(name), text);
const shown = (name) => vscode.languages.getDiagnostics(vscode.Uri.file(at(name))).map((d) => `${d.source} ${d.range.start.line + 1} ${d.message}`).sort();

describe('diagnostics', () => {
  let api, server;
  before(async () => {
    api = await extension().activate();
    Object.assign(api.sidecar.diagnoses.patience, { begin: 30_000, quiet: 500 }); // however late a server is here, it comes
  });
  beforeEach(async () => {
    await quiet(api);
    for (const name of fs.readdirSync(folder(here).fsPath)) if (name !== '.git') fs.rmSync(at(name), { recursive: true });
  });
  afterEach(async () => {
    server?.dispose();
    await quiet(api);
    fs.rmSync(at('ralph.toml'), { force: true });
    await run('workbench.action.closeAllEditors');
  });

  /** A language server that finds a mistake in each line with "error", a while after the text changed. */
  function serve(delay) {
    const collection = vscode.languages.createDiagnosticCollection('fake');
    let isOver = false;
    const look = (d) => d.fileName.endsWith('.shop') && setTimeout(() => {
      if (isOver) return;
      const lines = d.getText().split('\n');
      collection.set(d.uri, lines.flatMap((text, i) => (text.includes('error') ? [Object.assign(new vscode.Diagnostic(new vscode.Range(i, 0, i, 1), text), { source: 'fake' })] : [])));
    }, delay);
    const all = new vscode.Range(0, 0, 0, 1); // that something knows the language is the sign to wait for it
    const symbols = { provideDocumentSymbols: () => [new vscode.DocumentSymbol('all', '', vscode.SymbolKind.File, all, all)] };
    server = vscode.Disposable.from(collection, vscode.languages.registerDocumentSymbolProvider({ pattern: '**/*.shop' }, symbols), { dispose: () => (isOver = true) }, vscode.workspace.onDidOpenTextDocument(look), vscode.workspace.onDidChangeTextDocument((e) => look(e.document)));
  }
  const start = async (more) => (await run('ralph.start', { folder: folder(here).toString(), completionPromise: 'DONE', ...more })).loopId;
  const ends = (loopId) => until('the end', () => api.loops.byId(loopId)?.stopReason);
  const updatesOf = async (loopId) => (await api.sidecar.execute('ralph.loop.read', { loopId })).updates.filter((u) => u.sessionUpdate === '_ralph/verify').map((u) => u.text);

  it('show where a check failed, beside those of others, until another begins @oldest', async () => {
    serve(10);
    write('a.shop', 'an error\ntwo\n');
    write('ralph.toml', '[verify]\ncommand = ["sh", "check.sh"]\nmax_failures = 1\n');
    write('check.sh', 'echo a.shop:2:1: wrong; exit 1');
    write('do-1.sh', 'true');
    await vscode.window.showTextDocument(vscode.Uri.file(at('a.shop')));
    const loopId = await start({ prompt: 'do 1' });
    await until('both', () => shown('a.shop').length === 2);
    assert.deepEqual(shown('a.shop'), ['fake 1 an error', 'ralph verify 2 wrong']);
    await until('the end', () => api.loops.byId(loopId)?.state === 'failed');
    await run('ralph.cancel', { folder: folder(here).toString() });
    await until('it went', () => shown('a.shop').length === 1);
    assert.deepEqual(shown('a.shop'), ['fake 1 an error']);
  });

  it('refute a promise where they are new, and are waited for @oldest', async () => {
    serve(1500);
    write('a.shop', 'one\nold error\n');
    write('ralph.toml', '[verify]\ndiagnostics = "no_new_errors"\n');
    write('do-1.sh', 'echo new error >>a.shop; echo fine >b.shop; echo words >words.zzz');
    write('do-2.sh', 'sed -i /new/d a.shop; echo more >>a.shop');
    await vscode.window.showTextDocument(vscode.Uri.file(at('a.shop')));
    await until('the old one', () => shown('a.shop').length === 1);
    const loopId = await start({ prompt: 'do 1' }); // promises in both
    assert.equal(await ends(loopId), 'promise');
    const told = (await updatesOf(loopId)).join('\n');
    assert.match(told, /show 1 new error: a\.shop:3:1: new error/);
    assert.match(told, /show no new error in 2 files; no language server looked at words\.zzz/);
    assert.deepEqual(vscode.window.tabGroups.all.flatMap((g) => g.tabs).filter((tab) => tab.label === 'b.shop'), []);
  });

  it('of TypeScript are asked for: of a file without a tab the editor shows none', async () => {
    write('tsconfig.json', '{"compilerOptions":{"strict":true}}');
    write('a.ts', 'export const a: number = "old";\n');
    write('ralph.toml', '[verify]\ndiagnostics = "no_new_errors"\n');
    write('do-1.sh', 'echo "export const b: string = 1;" >b.ts; echo "export const c = 1;" >>a.ts');
    write('do-2.sh', 'echo "export const b: string = String(1);" >b.ts');
    await vscode.window.showTextDocument(vscode.Uri.file(at('a.ts')));
    await until('the old one', () => shown('a.ts').length === 1);
    const loopId = await start({ prompt: 'do 1' });
    assert.equal(await ends(loopId), 'promise');
    const told = (await updatesOf(loopId)).join('\n');
    assert.match(told, /show 1 new error: b\.ts:1:14: Type 'number' is not assignable to type 'string'\./);
    assert.match(told, /show no new error in 2 files/);
  });

  it('prove nothing where nobody looked, or the text is not saved', async () => {
    write('ralph.toml', '[verify]\ndiagnostics = "no_new_errors"\n');
    write('a.shop', 'one\n');
    write('do-1.sh', 'echo two >>a.shop');
    await start({ prompt: 'do 1' });
    const paused = () => api.loops.status.find((l) => l.state === 'paused');
    await until('the pause', paused);
    assert.match(JSON.stringify(paused()), /no language server looked at a\.shop/);
    await quiet(api);

    serve(10);
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(at('a.shop')));
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((e) => e.insert(new vscode.Position(0, 0), 'mine '));
    await start({ prompt: 'do 1' });
    await until('the pause', paused);
    assert.match(JSON.stringify(paused()), /a\.shop has changes in the editor that aren't saved/);
    await run('workbench.action.revertAndCloseActiveEditor');
  });
});
