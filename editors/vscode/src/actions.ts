// The list of actions behind the status bar: where the loops stand, and what can be done.
import * as vscode from 'vscode';
import { facts, since } from './format';
import { t } from './l10n';
import { countText, folderName, isLeft, isLive, isResumable, stateText } from './loopText';
import type { Loops } from './loops';
import type { Sidecar } from './sidecar';
import type { LoopStatus } from './wire';

interface Action extends vscode.QuickPickItem { command?: string; loop?: LoopStatus }

/** Shows the list, and runs what is chosen. */
export async function showStatus(sidecar: Sidecar, loops: Loops): Promise<LoopStatus[]> {
  const status = loops.status;
  loops.markSeen();
  const items = sidecar.state.state === 'running' ? [...status.flatMap((l) => loopActions(l, loops.isPausing(l))), ...generalActions(status)] : serverActions(sidecar);
  void vscode.window.showQuickPick(items, { title: 'Ralph', placeHolder: t('Choose what to do') }).then((chosen) => {
    if (chosen?.command) void vscode.commands.executeCommand(chosen.command, chosen.loop && { loopId: chosen.loop.loopId, folder: chosen.loop.folder });
  });
  return status;
}

function loopActions(loop: LoopStatus, pausing: boolean): Action[] {
  const title = facts(folderName(loop.folder), countText(loop), pausing ? t('pausing') : stateText(loop), isLive(loop) ? since(loop.startedAt, Date.now()) : '', loop.backend?.name);
  const action = (command: string, icon: string, label: string): Action => ({ label: `$(${icon}) ${label}`, command, loop });
  const all: Action[] = [{ label: title, kind: vscode.QuickPickItemKind.Separator }];
  if (isLive(loop)) all.push(action('ralph.cancel', 'debug-stop', t('Cancel')));
  if (loop.state === 'running' && !pausing) all.push(action('ralph.pause', 'debug-pause', t('Pause after this iteration')));
  if (isResumable(loop) || pausing) all.push(action('ralph.resume', 'debug-continue', t('Resume')));
  if (isLeft(loop)) all.push(action('ralph.cancel', 'trash', t('Discard')));
  if (isLive(loop)) all.push(action('ralph.steer', 'comment', t('Steer...')), action('ralph.changeLimits', 'dashboard', t('Change limits...')));
  all.push(action('ralph.showOutput', 'output', t('Show output')), action('ralph.showChangedFiles', 'diff', t('Show changed files')));
  if (loop.state !== 'ended' && loop.stateFileUri) all.push(action('ralph.openStateFile', 'go-to-file', t('Open state file')));
  return all;
}

function generalActions(status: LoopStatus[]): Action[] {
  return [
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    { label: `$(play) ${status.some(isLive) ? t('Start another loop...') : t('Start a loop...')}`, command: 'ralph.start' },
    { label: `$(pulse) ${t('Doctor')}`, command: 'ralph.doctor' },
    { label: `$(question) ${t('Help')}`, command: 'ralph.help' },
  ];
}

function serverActions(sidecar: Sidecar): Action[] {
  const server = sidecar.state;
  return [
    { label: server.state === 'failed' ? server.reason : server.state, kind: vscode.QuickPickItemKind.Separator },
    { label: `$(debug-restart) ${t('Restart the server')}`, command: 'ralph.restartServer' },
    { label: `$(output) ${t('Show the log')}`, command: 'ralph.showLog' },
  ];
}
