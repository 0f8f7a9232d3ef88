// What the tests in the extension host share.
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

const extension = () => vscode.extensions.getExtension('ralph-lsp.ralph');

/** Resolves with what check returns once that is true. */
async function until(what, check, ms = 300_000) { // only what hangs takes longer
  const deadline = Date.now() + ms;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

const folder = (n = 0) => vscode.workspace.workspaceFolders[n].uri;
const file = (name, n = 0) => path.join(folder(n).fsPath, name);
const stateFile = (n = 0) => file('.pi/ralph-loop.local.md', n);

/** The settings that a test changes are put back at its end. */
async function setting(key, value) {
  await vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global);
}

/** Ends what runs, and waits until the sidecar is there. */
async function quiet(api) {
  await until('the sidecar runs', () => api.sidecar.state.state === 'running');
  for (const l of api.loops.status) {
    if (l.state !== 'ended') await vscode.commands.executeCommand('ralph.cancel', { folder: l.folder });
  }
  await until('no loop', () => api.loops.status.every((l) => l.state === 'ended'));
  for (const f of vscode.workspace.workspaceFolders) fs.rmSync(path.join(f.uri.fsPath, 'notes.txt'), { force: true });
}

/** The loop in a folder of the workspace. */
const loopIn = (api, n = 0) => api.loops.status.find((l) => vscode.Uri.parse(l.folder).fsPath === folder(n).fsPath);

/** Files with steps that the stand-in agent ticks off. */
function writeNotes(n = 0) {
  fs.writeFileSync(file('notes.txt', n), [1, 2, 3, 4, 5].map((i) => `step ${i}: open\n`).join(''));
}

module.exports = { extension, until, folder, file, stateFile, setting, quiet, writeNotes, loopIn };
