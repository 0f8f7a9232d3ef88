// A list to choose from.
import * as vscode from 'vscode';

/**
 * What the user chooses, undefined if nothing. The list stays until then or Escape: behind a command that
 * came from the palette the editor gives the keys back to what had them, a page of ours late, and that
 * would close it unseen.
 */
export function pick<T extends vscode.QuickPickItem>(items: readonly T[], options: vscode.QuickPickOptions, token?: vscode.CancellationToken): Thenable<T | undefined> {
  return vscode.window.showQuickPick(items, { ...options, ignoreFocusOut: true }, token);
}
