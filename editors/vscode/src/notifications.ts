// Notifications: the end of a loop, its warnings, one that was interrupted or has failed, a
// sidecar that isn't there. Nothing else pops up by itself.
import * as vscode from 'vscode';
import * as config from './config';
import { t } from './l10n';
import { isLeft } from './loopText';
import type { Loops } from './loops';
import { endNotice, leftNotice, raised, type ActionId, type Notice } from './notices';
import { CommandError, type Sidecar } from './sidecar';
import { command, type CommandId, type End, type LoopParams, type LoopStatus, type Said } from './wire';

/** Milliseconds that the status bar shows what is no warning. */
const saidFor = 15_000;

export class Notifications implements vscode.Disposable {
  private readonly asked = new Set<string>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly sidecar: Sidecar, private readonly loops: Loops) {
    this.subscriptions = [
      loops.onEnd(({ loopId, end }) => void this.ended(loopId, end)),
      loops.onSaid(({ said }) => void this.said(said)),
      sidecar.onStatus((p) => p.loops.forEach((l) => void this.left(l))),
      sidecar.onServer(() => void this.serverChanged()),
    ];
  }

  dispose(): void {
    for (const d of this.subscriptions) d.dispose();
  }

  private async ended(loopId: string, end: End): Promise<void> {
    const loop = this.loops.byId(loopId);
    const notice = endNotice(end, loop);
    const chosen = notice && (await this.show(notice));
    if (chosen === 'raise') await this.run(command.resume, { loopId, ...raised(end, loop) });
    else if (chosen) await act(chosen, { loopId, folder: this.loops.folderOf(loopId) });
  }

  /** Shows what a loop says, warnings with what can be done about them. */
  private async said({ text, class: kind, offers = [] }: Said): Promise<void> {
    if (config.notify() === 'never') return;
    if (kind === 'info' || kind === 'ok') {
      vscode.window.setStatusBarMessage(`Ralph: ${text}`, saidFor);
      return;
    }
    const show = kind === 'error' ? vscode.window.showErrorMessage : vscode.window.showWarningMessage;
    const chosen = await show(`Ralph: ${text}`, ...offers.map((o) => o.title));
    const offer = offers.find((o) => o.title === chosen);
    if (offer) await this.run(offer.command, offer.arguments?.[0]);
  }

  /** Asks once about each loop that was interrupted or has failed. */
  private async left(loop: LoopStatus): Promise<void> {
    const key = `${loop.folder} ${loop.loopId}`;
    if (!isLeft(loop)) this.asked.delete(key); // it may be left again
    if (!isLeft(loop) || this.asked.has(key)) return;
    this.asked.add(key);
    const chosen = await this.show(leftNotice(loop));
    if (chosen === 'resume') await this.run(command.resume, { folder: loop.folder });
    if (chosen === 'discard') await this.run(command.cancel, { folder: loop.folder });
  }

  /** Says that the sidecar can't run: it isn't started again by itself then. */
  private async serverChanged(): Promise<void> {
    const server = this.sidecar.state;
    if (server.state !== 'failed') return;
    const [settings, again, log] = [t('Open Settings'), t('Restart Server'), t('Show Log')];
    const chosen = await vscode.window.showErrorMessage(`Ralph: ${server.reason}`, again, settings, log);
    if (chosen === settings) await vscode.commands.executeCommand('workbench.action.openSettings', 'ralph.server.path');
    if (chosen === again) await vscode.commands.executeCommand('ralph.restartServer');
    if (chosen === log) this.sidecar.log.show();
  }

  private async show(notice: Notice): Promise<ActionId | undefined> {
    const when = config.notify();
    if (when === 'never' || (when === 'unfocused' && vscode.window.state.focused)) return undefined;
    const titles = notice.actions.map((a) => a.title);
    const show = { information: vscode.window.showInformationMessage, warning: vscode.window.showWarningMessage, error: vscode.window.showErrorMessage }[notice.severity];
    const chosen = await show(notice.message, ...titles);
    return notice.actions.find((a) => a.title === chosen)?.id;
  }

  private async run(id: CommandId, params?: object): Promise<void> {
    try {
      await this.sidecar.execute(id, params);
    } catch (e) {
      await showError(e);
    }
  }
}

function act(action: ActionId, loop: LoopParams): Thenable<unknown> {
  const commands: Partial<Record<ActionId, string>> = {
    output: 'ralph.showOutput', changes: 'ralph.showChangedFiles', doctor: 'ralph.doctor', state: 'ralph.openStateFile',
  };
  return vscode.commands.executeCommand(commands[action] ?? 'ralph.showStatus', loop);
}

/** Shows why a command of the user's failed, with what helps. */
export async function showError(e: unknown): Promise<void> {
  const message = `Ralph: ${e instanceof Error ? e.message : String(e)}`;
  const reason = e instanceof CommandError ? e.data.reason : undefined;
  const [doctor, settings] = [t('Run Doctor'), t('Open Settings')];
  const actions = reason === 'backend_not_found' ? [doctor, settings] : [];
  const chosen = await vscode.window.showErrorMessage(message, ...actions);
  if (chosen === doctor) await vscode.commands.executeCommand('ralph.doctor');
  if (chosen === settings) await vscode.commands.executeCommand('workbench.action.openSettings', 'ralph.backend');
}
