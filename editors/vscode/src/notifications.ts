// Notifications: what a loop tells its user, one that was left, a sidecar that isn't
// there. Nothing else pops up by itself.
import * as vscode from 'vscode';
import { canOf } from './can';
import * as config from './config';
import { t } from './l10n';
import type { Loops } from './loops';
import { facts, iconless, linkable } from './show';
import { CommandError, type Sidecar } from './sidecar';
import { command, type Class, type End, type ErrorData, type LoopParams, type LoopStatus, type Said } from './wire';

/** Milliseconds that the status bar shows what needs no answer. */
const shownFor = 15_000;

export interface Button { title: string; command: string; arguments?: unknown[] }

const button = (title: string, id: string, ...args: unknown[]): Button => ({ title, command: id, arguments: args });
const settings = (key: string): Button => button(t('Open Settings'), 'workbench.action.openSettings', key);

export class Notifications implements vscode.Disposable {
  /** Loops that were left, of which the user was told, by folder and id. */
  private readonly told = new Set<string>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly sidecar: Sidecar, private readonly loops: Loops) {
    this.subscriptions = [
      loops.onSaid(({ loopId, said }) => void this.said(loopId, said)),
      loops.onEnd(({ loopId, end }) => void this.ended(loopId, end)),
      sidecar.onStatus((p) => p.loops.forEach((l) => void this.left(l))),
      sidecar.onServer(() => void this.serverChanged()),
    ];
  }

  dispose(): void {
    for (const d of this.subscriptions) d.dispose();
  }

  /** A fleet has loops of many people: those that are of no open folder are seen in the view. */
  private isOurs(loopId: string): boolean {
    const loop = this.loops.byId(loopId);
    return !loop?.host || loop.origin !== undefined;
  }

  private async said(loopId: string, said: Said): Promise<void> {
    if (config.notify() !== 'never' && this.isOurs(loopId)) await tell(this.loops.byId(loopId)?.title, said);
  }

  private async ended(loopId: string, end: End): Promise<void> {
    if (!this.isOurs(loopId) || end.stopReason === 'detached' || end.offers?.some((o) => o.command === command.cancel)) return; // one that is left is told by its status
    const far = this.loops.byId(loopId)?.host !== undefined;
    await over(this.loops.byId(loopId)?.title ?? end.title, end, { loopId, folder: this.loops.folderOf(loopId) }, far);
  }

  /** Tells once of each loop that somebody has to go on with, or to discard. */
  private async left(loop: LoopStatus): Promise<void> {
    const key = `${loop.folder} ${loop.loopId}`;
    const isLeft = canOf(loop).includes('discard');
    if (!isLeft) this.told.delete(key); // it may be left again
    if (!isLeft || this.told.has(key)) return;
    this.told.add(key);
    await over(loop.title, { ...loop, text: facts(loop.text, loop.error) }, { loopId: loop.loopId, folder: loop.folder });
  }

  /** Says that the sidecar can't run: it isn't started again by itself then. One that runs may lack something. */
  private async serverChanged(): Promise<void> {
    const server = this.sidecar.state;
    if (server.state === 'running' && server.warning) await ask('warning', `Ralph: ${server.warning}`, [settings('ralph.fleet.bus'), button(t('Restart Server'), 'ralph.restartServer')]);
    if (server.state !== 'failed') return;
    await ask('error', `Ralph: ${server.reason}`, [button(t('Restart Server'), 'ralph.restartServer'), settings('ralph.server.path'), button(t('Show Log'), 'ralph.showLog')]);
  }
}

/** Tells of a loop that is over, here or far away. */
async function over(title: string | undefined, said: Said, loop: LoopParams, far = false): Promise<void> {
  const when = config.notify();
  if (when === 'never' || (when === 'unfocused' && vscode.window.state.focused)) return;
  const looks = [button(t('Show Output'), 'ralph.showOutput', loop)];
  if (said.class === 'ok') looks.push(button(t('Open Changes'), 'ralph.openChanges', loop));
  if (far) looks.push(button(t('Fetch Its Branch'), 'ralph.fetch', loop));
  await tell(title, said, looks);
}

/** Shows what a loop says; first are the buttons that change nothing. The status bar has no place for any. */
async function tell(title: string | undefined, { text, class: kind = 'info', offers = [] }: Said, first: Button[] = []): Promise<void> {
  if (kind === 'info' && offers.length === 0) mention(text, title);
  else await ask(kind, saidOf(text, title), [...first, ...offers]);
}

const saidOf = (text = '', title?: string): string => (title ? `Ralph (${title}): ${text}` : `Ralph: ${text}`);

/** Shows in the status bar what needs no answer. */
export const mention = (text?: string, title?: string): void => void vscode.window.setStatusBarMessage(iconless(saidOf(text, title)), shownFor);

/** Shows why a command of the user's failed, with what helps. Where something else can be done, returns what came of that. */
export async function showError(e: unknown): Promise<unknown> {
  const message = e instanceof Error ? e.message : String(e);
  const { reason, question, offers }: ErrorData = e instanceof CommandError ? e.data : {};
  const first = [...(question ? [button(t('Keep'), '')] : []), ...(reason === 'backend_not_found' ? [button(t('Install...'), 'ralph.install')] : [])];
  if (offers) return ask('warning', question ?? `Ralph: ${message}`, [...first, ...offers]);
  void ask('error', `Ralph: ${message}`, first);
  return undefined;
}

/** Shows a message with buttons, the safe one first, and does what is chosen. */
export async function ask(kind: Class, message: string, buttons: Button[]): Promise<unknown> {
  const { showInformationMessage, showWarningMessage, showErrorMessage } = vscode.window;
  const show = { info: showInformationMessage, ok: showInformationMessage, warning: showWarningMessage, error: showErrorMessage }[kind];
  const chosen = await show(linkable(message), ...buttons.map((b) => b.title));
  const what = buttons.find((b) => b.title === chosen);
  return what?.command && vscode.commands.executeCommand(what.command, ...what.arguments ?? []);
}
