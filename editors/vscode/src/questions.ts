// What agents wait to be told: how their user is asked, and answers.
import * as vscode from 'vscode';
import { chooseLoop, type LoopArgument } from './choose';
import * as config from './config';
import { t } from './l10n';
import type { Loops } from './loops';
import { mention } from './notifications';
import type { Sidecar } from './sidecar';
import { iconless, linkable } from './show';
import { command, type Answer, type LoopParams, type LoopResult, type Question } from './wire';

/** A question that a notification is for. */
interface Asking { n: number; question: Question; done: () => void }

type Said = LoopParams & Partial<Answer>;

export class Questions implements vscode.Disposable {
  /** Those that are asked, the one that is shown first. */
  private readonly queue: Asking[] = [];
  private count = 0;
  private draw: (() => void) | undefined;
  private readonly named: vscode.Disposable;

  constructor(private readonly sidecar: Sidecar, private readonly loops: Loops, private readonly show: (loop: LoopParams) => void) {
    sidecar.permissions = (question, token) => this.ask(question, token);
    this.named = loops.onChange(() => this.draw?.()); // its loop may be told of later than it
  }

  dispose(): void {
    this.named.dispose();
    for (const asking of [...this.queue]) asking.done();
  }

  /** Answers a question of a loop; without an answer, the user chooses one. */
  async answer(argument?: LoopArgument & Partial<Answer>): Promise<void> {
    const loop = await chooseLoop(this.loops, argument, (l) => Boolean(l.questions));
    if (!loop) return;
    const open = (loop.questions ?? []).filter((q) => !argument?.id || q.id === argument.id);
    const question = open.length > 1 ? (await vscode.window.showQuickPick(open.map((q) => ({ label: iconless(q.title), q })), { title: t('Which question?') }))?.q : open[0];
    if (question) await this.say(question, argument);
    else if (open.length === 0) void vscode.window.showInformationMessage(t('That needs no answer any more.'));
  }

  /** What a link of a notification does: the answer of an offer, to choose one, or to show all there is to know. */
  async chosen(n: number, what: number | 'choose' | 'show'): Promise<void> {
    const question = this.queue.find((asking) => asking.n === n)?.question;
    if (!question) return;
    if (what === 'show') this.show({ loopId: question.loopId, folder: question.folder });
    else await this.say(question, what === 'choose' ? undefined : (question.offers?.[what]?.arguments?.[0] as Said));
  }

  /** Asks with a notification, until it is answered or needs no answer any more. Whoever answers does so with a command. */
  private async ask(question: Question, token: vscode.CancellationToken): Promise<null> {
    if (config.notify() === 'never') return null;
    await new Promise<void>((resolve) => {
      const asking: Asking = { n: ++this.count, question, done: () => this.remove(asking, resolve) };
      token.onCancellationRequested(asking.done);
      const [first, ...rest] = [...this.queue, asking];
      rest.sort((a, b) => (a.question.at ?? '').localeCompare(b.question.at ?? '')); // the first is shown already
      this.queue.splice(0, this.queue.length, first!, ...rest);
      if (token.isCancellationRequested) asking.done();
      else if (this.queue.length === 1) void this.notify();
      else this.draw?.();
    });
    return null;
  }

  /** The user doesn't want to decide now. */
  private leave(asking: Asking): void {
    asking.done();
    mention(t('It still waits: a click on Ralph here answers.'));
  }

  private remove(asking: Asking, resolve: () => void): void {
    const at = this.queue.indexOf(asking);
    if (at < 0) return;
    this.queue.splice(at, 1);
    resolve();
    this.draw?.();
  }

  /** Shows the questions one after the other: as progress, the only notification that can be taken back. */
  private async notify(): Promise<void> {
    for (let shown = this.queue[0]; shown; shown = this.queue[0]) {
      const asking = shown;
      await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, cancellable: true }, (progress, closed) => new Promise<void>((resolve) => {
        closed.onCancellationRequested(() => this.leave(asking));
        let said = '';
        this.draw = () => {
          if (this.queue[0] !== asking) return resolve();
          const message = this.message(asking);
          if (message !== said) progress.report({ message: (said = message) });
        };
        this.draw();
      }));
      this.draw = undefined;
    }
  }

  private message({ n, question }: Asking): string {
    const title = this.loops.byId(question.loopId)?.title;
    const link = (label: string, what: number | string) => `[${linkable(label).replaceAll(']', ')')}](command:ralph.question?${encodeURIComponent(JSON.stringify([n, what]))})`;
    const offers = question.offers ?? [];
    const links = offers.length > 4 ? [] : offers.map((o, i) => link(o.title, i));
    if (offers.length > 4 || question.kind === 'input') links.push(link(t('Answer...'), 'choose'));
    const more = this.queue.length > 1 ? ` (${t('1 of {0}', this.queue.length)})` : '';
    return `${linkable(`Ralph${title ? ` (${title})` : ''} ${question.text}`)}${more} — ${[...links, link(t('Show'), 'show')].join(' | ')}`;
  }

  private async say(question: Question, given?: Said): Promise<void> {
    const said = await this.whileOpen(question, (token) => choose(question, given, token));
    if (!said) return;
    const result = await this.sidecar.execute<LoopResult>(command.answer, said);
    if (result.text) mention(result.text);
    this.queue.find((asking) => asking.question.id === question.id && asking.question.loopId === question.loopId)?.done();
  }

  /** Asks the user for more, until the question needs no answer any more. */
  private async whileOpen<T>(question: Question, ask: (token: vscode.CancellationToken) => Promise<T | undefined>): Promise<T | undefined> {
    const source = new vscode.CancellationTokenSource();
    const changed = this.loops.onChange(() => {
      if (!this.loops.byId(question.loopId)?.questions?.some((q) => q.id === question.id)) source.cancel();
    });
    try {
      const said = await ask(source.token);
      if (!source.token.isCancellationRequested) return said;
      mention(t('That needs no answer any more.'));
      return undefined;
    } finally {
      changed.dispose();
      source.dispose();
    }
  }
}

/** What the user says to a question, as far as it isn't given. */
async function choose(q: Question, given: Said | undefined, token: vscode.CancellationToken): Promise<Said | undefined> {
  const said: Said = { loopId: q.loopId, folder: q.folder, id: q.id, answer: given?.answer, text: given?.text };
  if (!said.answer) {
    const offers = (q.offers ?? []).map((o) => ({ label: iconless(o.title), said: o.arguments?.[0] as Said }));
    const write = q.kind === 'input' ? [{ label: t('Write an answer...'), said: { answer: 'value' as const } }] : [];
    const picked = await vscode.window.showQuickPick([...offers, ...write], { title: q.text, placeHolder: q.detail?.slice(0, 300), ignoreFocusOut: true }, token);
    if (!picked) return undefined;
    Object.assign(said, picked.said);
  }
  if (said.text === undefined && said.answer === 'value') {
    said.text = await vscode.window.showInputBox({ title: q.text, prompt: q.detail && linkable(q.detail.slice(0, 300)), placeHolder: q.placeholder, ignoreFocusOut: true }, token);
    return said.text === undefined ? undefined : said;
  }
  if (said.text === undefined && said.answer === 'deny' && q.kind === 'permission') {
    said.text = (await vscode.window.showInputBox({
      title: t('Denied: {0}', q.title), prompt: t('Why? The agent reads it. With nothing, it is told only that you said no.'), ignoreFocusOut: true,
    }, token)) || undefined;
  }
  return said;
}
