// Which loop, and which folder, a command is for.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { t } from './l10n';
import type { Loops } from './loops';
import { pick } from './pick';
import { facts, iconless } from './show';
import type { LoopParams, LoopStatus, PastLoop } from './wire';

/** A command's argument as keybindings and other extensions give it, or an item of the tree. */
export type LoopArgument = (LoopParams & { loop?: LoopParams }) | undefined;

/**
 * The loop that an argument names, or the only fitting one, or the one that
 * the user picks. Undefined: there is none (which is said), or none was picked.
 */
export async function chooseLoop(loops: Loops, argument: LoopArgument, fits: (l: LoopStatus) => boolean): Promise<LoopStatus | undefined> {
  const named = argument?.loop ?? argument;
  const all = await loops.current();
  if (named?.loopId || named?.folder) {
    const { loopId, folder } = named;
    const found = all.find((l) => (loopId ? l.loopId === loopId : folder !== undefined && samePlace(l.folder, folder)));
    if (!found) void vscode.window.showInformationMessage(t('That Ralph loop is not there any more.'));
    return found;
  }
  const fitting = all.filter(fits);
  if (fitting.length === 0) void vscode.window.showInformationMessage(t('There is no Ralph loop to do that with.'));
  if (fitting.length <= 1) return fitting[0];
  return (await pick(fitting.map(currentItem), { title: t('Which loop?') }))?.loop;
}

/** As chooseLoop, of the loops that have a session, also the past ones. */
export async function chooseSession(loops: Loops, argument: LoopArgument): Promise<LoopStatus | PastLoop | undefined> {
  const named = argument?.loop ?? argument;
  await loops.current();
  const past = loops.past.filter((p) => !loops.byId(p.loopId));
  const found = past.find((p) => p.loopId === named?.loopId);
  if (found) return found;
  if (named?.loopId || named?.folder || past.length === 0) return chooseLoop(loops, argument, (l) => Boolean(l.sessionFileUri));
  const items = [...loops.status.filter((l) => l.sessionFileUri).map(currentItem), ...past.map(pastItem)];
  return items.length === 1 ? items[0]?.loop : (await pick(items, { title: t('Which loop?'), matchOnDescription: true }))?.loop;
}

const currentItem = (loop: LoopStatus) => ({ label: iconless(loop.title), description: iconless(loop.line ?? ''), loop });

const pastItem = (loop: PastLoop) => ({
  label: iconless(loop.title), description: iconless(facts(new Date(loop.startedAt).toLocaleString(), loop.text)), loop,
});

/** The URI of a folder that is given as such or as a path. */
export function folderUri(folder: string): vscode.Uri {
  return /^[a-z][a-z0-9+.-]+:/i.test(folder) ? vscode.Uri.parse(folder) : vscode.Uri.file(path.resolve(folder));
}

/** Whether two folders are one. The server and the editor encode the same path differently. */
function samePlace(a: string, b: string): boolean {
  return folderUri(a).fsPath === folderUri(b).fsPath;
}

/** The folder for a new loop: the named one, the document's, the only one, or the user's choice. */
export async function chooseFolder(named: string | undefined, document?: vscode.Uri): Promise<vscode.Uri | undefined> {
  if (named) return folderUri(named);
  const ofDocument = document && vscode.workspace.getWorkspaceFolder(document);
  if (ofDocument) return ofDocument.uri;
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    const open = t('Open Folder');
    const chosen = await vscode.window.showErrorMessage(t('Ralph works in a folder. Open one first.'), open);
    if (chosen === open) await vscode.commands.executeCommand('workbench.action.files.openFolder');
    return undefined;
  }
  if (folders.length === 1) return folders[0]?.uri;
  return (await vscode.window.showWorkspaceFolderPick({ placeHolder: t('In which folder should the loop run?') }))?.uri;
}
