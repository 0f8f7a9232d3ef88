// The list of actions behind the status bar: where the loops stand, and what can be done.
import * as vscode from 'vscode';
import { canOf, doing, isPossible } from './can';
import { t } from './l10n';
import type { Loops } from './loops';
import { pick } from './pick';
import { facts, iconless, short, since } from './show';
import type { Sidecar } from './sidecar';
import type { LoopStatus } from './wire';

interface Action extends vscode.QuickPickItem { command?: string; loop?: LoopStatus; argument?: object }

/** Shows the list, and runs what is chosen. */
export async function showStatus(sidecar: Sidecar, loops: Loops): Promise<LoopStatus[]> {
  const status = loops.status;
  loops.markSeen();
  const items = sidecar.state.state === 'running' ? [...status.flatMap(loopActions), ...generalActions(status)] : serverActions(sidecar);
  void pick(items, { title: 'Ralph', placeHolder: t('Choose what to do') }).then((chosen) => {
    if (chosen?.command) void vscode.commands.executeCommand(chosen.command, chosen.argument ?? (chosen.loop && { loopId: chosen.loop.loopId, folder: chosen.loop.folder }));
  });
  return status;
}

function loopActions(loop: LoopStatus): Action[] {
  const title = facts(short(loop.title, 30), loop.line, loop.live ? since(loop.startedAt, Date.now()) : loop.backend?.name);
  const action = (command: string, icon: string, label: string): Action => ({ label: `$(${icon}) ${label}`, command, loop });
  return [
    { label: short(title), kind: vscode.QuickPickItemKind.Separator }, // longer, it would lie over the first action
    ...canOf(loop).filter((can) => can !== 'start').flatMap((can) => doing(can) ?? []).map((d) => action(d.command, d.icon, d.title)),
    ...(loop.allowed ?? []).filter((rule) => isPossible(rule.offers[0]!, canOf(loop))).map((rule): Action => ({ label: `$(discard) ${iconless(t('Take back: {0}', rule.text))}`, command: 'ralph.takeBack', argument: { offer: rule.offers[0] } })),
    action('ralph.showOutput', 'output', t('Show output')), ...(canOf(loop).includes('review') ? [] : [action('ralph.openChanges', 'diff-multiple', t('Open changes'))]),
  ];
}

function generalActions(status: LoopStatus[]): Action[] {
  return [
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    { label: `$(play) ${status.some((l) => l.live) ? t('Start another loop...') : t('Start a loop...')}`, command: 'ralph.start' },
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
