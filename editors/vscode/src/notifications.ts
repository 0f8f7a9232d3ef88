// Notifications: what a loop tells its user, one that was left, a sidecar that isn't
// there. Nothing else pops up by itself.
import * as vscode from 'vscode';
import { canOf } from './can';
import * as config from './config';
import { t } from './l10n';
import type { Loops } from './loops';
import { pick } from './pick';
import { facts, iconless, linkable, short } from './show';
import { CommandError, type Sidecar } from './sidecar';
import type { Class, End, ErrorData, LoopParams, LoopStatus, Notice } from './wire';

/** Milliseconds that the status bar shows what needs no answer. */
const shownFor = 15_000;
/** Milliseconds within which what a loop says is one notice. */
const togetherWithin = 300;
/** VS Code cuts what more would say. */
const maxButtons = 3;

export interface Button { title: string; command: string; arguments?: unknown[] }

const button = (title: string, id: string, ...args: unknown[]): Button => ({ title, command: id, arguments: args });
const settings = (key: string): Button => button(t('Open Settings'), 'workbench.action.openSettings', key);

export class Notifications implements vscode.Disposable {
  /** Loops that were left, of which the user was told, by folder and id. */
  private readonly told = new Set<string>();
  /** What loops say that isn't shown yet, and those whose notification is open. */
  private readonly waiting = new Map<string, Notice[]>();
  private readonly shown = new Set<string>();
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

  /** Tells what a loop says: at once what comes at once, and the rest when its notification is closed. Until then the status bar has it. */
  private async said(loopId: string, said: Notice): Promise<void> {
    if (config.notify() === 'never' || !this.isOurs(loopId)) return;
    const title = () => this.loops.byId(loopId)?.title;
    if (isMention(said)) return mention(said.text, title());
    const [waiting, isShown] = [this.waiting.get(loopId), this.shown.has(loopId)];
    if (isShown) mention(said.text, title());
    if (waiting) return void waiting.push(said);
    const mine = [said];
    this.waiting.set(loopId, mine);
    await new Promise((resolve) => setTimeout(resolve, togetherWithin));
    this.shown.add(loopId);
    while (mine.length > 0) await tell(title(), inOne(mine.splice(0)));
    this.shown.delete(loopId);
    this.waiting.delete(loopId);
  }

  private async ended(loopId: string, end: End): Promise<void> {
    if (!this.isOurs(loopId) || end.offers?.some((o) => o.command === 'ralph.loop.cancel')) return; // one that is left is told by its status
    this.waiting.get(loopId)?.splice(0); // its end says more
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
async function over(title: string | undefined, said: Notice, loop: LoopParams, far = false): Promise<void> {
  const when = config.notify();
  if (when === 'never' || (when === 'unfocused' && vscode.window.state.focused)) return;
  const [first, looks] = [[button(t('Show Output'), 'ralph.showOutput', loop)], [] as Button[]]; // what the server offers is between
  if (said.class === 'ok') looks.push(button(t('Review Changes'), 'ralph.openChanges', loop));
  if (said.class === 'ok' && !far) looks.push(button(t('Undo Changes...'), 'ralph.undoChanges', loop), button(t('Start Again'), 'ralph.startAgain', { folder: loop.folder }));
  if (far) looks.push(button(t('Fetch Its Branch'), 'ralph.fetch', loop));
  await tell(title, said, first, looks);
}

/** Shows what a loop says; first are the buttons that change nothing. The status bar has no place for any. */
async function tell(title: string | undefined, { text, class: kind = 'info', offers = [] }: Notice, first: Button[] = [], last: Button[] = []): Promise<void> {
  if (isMention({ class: kind, offers })) mention(text, title);
  else await ask(kind, saidOf(text, title), [...first, ...offers, ...last]);
}

/** Whether it needs no answer. */
const isMention = ({ class: kind = 'info', offers = [] }: Notice): boolean => kind === 'info' && offers.length === 0;

/** All that a loop said as one notice, as bad as the worst of it. */
function inOne(all: Notice[]): Notice {
  const classes: Class[] = ['info', 'ok', 'warning', 'error'];
  const worst = Math.max(...all.map((s) => classes.indexOf(s.class ?? 'info')));
  return { text: facts(...new Set(all.map((s) => s.text))), class: classes[worst], offers: all.flatMap((s) => s.offers ?? []) };
}

const saidOf = (text = '', title?: string): string => (title ? `Ralph (${short(title, 40)}): ${text}` : `Ralph: ${text}`);

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

/** Shows a message with buttons, the safe one first, and does what is chosen. What has no room is in a list. */
export async function ask(kind: Class, message: string, buttons: Button[]): Promise<unknown> {
  const titles = buttons.map((b) => b.title);
  const shown = titles.length > maxButtons ? [...titles.slice(0, maxButtons - 1), t('More...')] : titles;
  const { showInformationMessage, showWarningMessage, showErrorMessage } = vscode.window;
  const show = { info: showInformationMessage, ok: showInformationMessage, warning: showWarningMessage, error: showErrorMessage }[kind];
  let chosen = await show(linkable(message), ...shown);
  if (chosen !== undefined && !titles.includes(chosen)) chosen = (await pick(titles.slice(maxButtons - 1).map((label) => ({ label })), { title: message }))?.label;
  const what = buttons.find((b) => b.title === chosen);
  return what?.command && vscode.commands.executeCommand(what.command, ...what.arguments ?? []);
}
