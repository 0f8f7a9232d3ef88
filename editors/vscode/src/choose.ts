// Which loop, and which folder, a command is for.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { facts } from './format';
import { t } from './l10n';
import { countText, folderName, stateText } from './loopText';
import type { Loops } from './loops';
import type { LoopParams, LoopStatus } from './wire';

/** A command's argument as keybindings and other extensions give it, or an item of the tree. */
export type LoopArgument = (LoopParams & { loop?: LoopParams }) | undefined;

/**
 * The loop that an argument names, or the only fitting one, or the one that
 * the user picks. Undefined: there is none (which is said), or none was picked.
 */
export async function chooseLoop(loops: Loops, argument: LoopArgument, fits: (l: LoopStatus) => boolean): Promise<LoopStatus | undefined> {
  const named = argument?.loop ?? argument;
  if (named?.loopId || named?.folder) {
    const folder = named.folder && folderUri(named.folder);
    const found = loops.status.find((l) => (named.loopId ? l.loopId === named.loopId : l.folder === folder));
    if (!found) void vscode.window.showInformationMessage(t('That Ralph loop is not there any more.'));
    return found;
  }
  const fitting = loops.status.filter(fits);
  if (fitting.length === 0) void vscode.window.showInformationMessage(t('There is no Ralph loop to do that with.'));
  if (fitting.length <= 1) return fitting[0];
  const items = fitting.map((l) => ({ label: folderName(l.folder), description: facts(countText(l), stateText(l)), loop: l }));
  return (await vscode.window.showQuickPick(items, { title: t('Which loop?') }))?.loop;
}

/** The file URI of a folder that is given as such or as a path. */
export function folderUri(folder: string): string {
  return /^[a-z][a-z0-9+.-]+:/i.test(folder) ? folder : vscode.Uri.file(path.resolve(folder)).toString();
}

/** The folder for a new loop: the named one, the document's, the only one, or the user's choice. */
export async function chooseFolder(named: string | undefined, document?: vscode.Uri): Promise<vscode.Uri | undefined> {
  if (named) return vscode.Uri.parse(folderUri(named));
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
  return (await vscode.window.showWorkspaceFolderPick({ placeHolder: t('In which folder shall the loop run?') }))?.uri;
}
