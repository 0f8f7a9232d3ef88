// What agents wait to be told: how their user is asked, and answers.
import * as vscode from 'vscode';
import { chooseLoop, type LoopArgument } from './choose';
import * as config from './config';
import { t } from './l10n';
import type { Loops } from './loops';
import { ask, mention, type Button } from './notifications';
import { pick } from './pick';
import type { Sidecar } from './sidecar';
import { iconless, linkable } from './show';
import type { Answer, LoopParams, LoopResult, Question } from './wire';

/** A question that a notification is for. */
interface Asking { question: Question; done: () => void; over: Promise<void> }

type Said = LoopParams & Partial<Answer>;

/** Milliseconds that a notification waits for its loop's name. */
const namedWithin = 1000;

export class Questions implements vscode.Disposable {
  /** Those that are asked, the one that is shown first. */
  private readonly queue: Asking[] = [];
  private isNotifying = false;

  constructor(private readonly sidecar: Sidecar, private readonly loops: Loops, private readonly show: (loop: LoopParams) => void) {
    sidecar.permissions = (question, token) => this.ask(question, token);
  }

  dispose(): void {
    for (const asking of [...this.queue]) asking.done();
  }

  /** Answers a question of a loop; without an answer, the user chooses one. */
  async answer(argument?: LoopArgument & Partial<Answer>): Promise<void> {
    const loop = await chooseLoop(this.loops, argument, (l) => Boolean(l.questions));
    if (!loop) return;
    const open = (loop.questions ?? []).filter((q) => !argument?.id || q.id === argument.id);
    const question = open.length > 1 ? (await pick(open.map((q) => ({ label: iconless(q.title), q })), { title: t('Which question?') }))?.q : open[0];
    if (question) await this.say(question, argument);
    else if (open.length === 0) void vscode.window.showInformationMessage(t('That needs no answer any more.'));
  }

  /** Shows all there is to know of a question, with its answers. */
  showAll({ loopId, folder }: LoopParams): void {
    this.show({ loopId, folder });
  }

  /** Asks with a notification, until it is answered, closed, or needs no answer any more. */
  private async ask(question: Question, token: vscode.CancellationToken): Promise<null> {
    if (config.notify() === 'never' || token.isCancellationRequested) return null;
    let done!: () => void;
    const over = new Promise<void>((resolve) => (done = resolve));
    const asking: Asking = { question, over, done: () => this.remove(asking, done) };
    token.onCancellationRequested(asking.done);
    const [first, ...rest] = [...this.queue, asking];
    rest.sort((a, b) => (a.question.at ?? '').localeCompare(b.question.at ?? '')); // the first is shown already
    this.queue.splice(0, this.queue.length, first!, ...rest);
    void this.notify();
    await over;
    return null;
  }

  private remove(asking: Asking, over: () => void): void {
    const at = this.queue.indexOf(asking);
    if (at >= 0) this.queue.splice(at, 1);
    over();
  }

  /** Shows the questions one after the other. The editor takes back no notification: a late answer is told that it is one. */
  private async notify(): Promise<void> {
    if (this.isNotifying) return;
    this.isNotifying = true;
    for (let shown = this.queue[0]; shown; shown = this.queue[0]) await Promise.race([this.notice(shown), shown.over]);
    this.isNotifying = false;
  }

  private async notice(asking: Asking): Promise<void> {
    const { question } = asking;
    await this.named(question.loopId);
    if (this.queue[0] !== asking) return;
    const title = this.loops.byId(question.loopId)?.title;
    const more = this.queue.length > 1 ? ` (${t('1 of {0}', this.queue.length)})` : '';
    await ask('warning', `Ralph${title ? ` (${title})` : ''} ${question.text}${more}`, buttonsOf(question));
    if (this.queue.includes(asking)) mention(t('It still waits: a click on Ralph here answers.'));
    asking.done();
  }

  /** Resolves when the status has told of a loop, which may be later than its question, or when that takes too long. */
  private async named(loopId: string | undefined): Promise<void> {
    if (this.loops.byId(loopId)) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        changed.dispose();
        resolve();
      };
      const timer = setTimeout(end, namedWithin);
      const changed = this.loops.onChange(() => this.loops.byId(loopId) && end());
    });
  }

  private async say(question: Question, given?: Said): Promise<void> {
    const said = await this.whileOpen(question, (token) => choose(question, given, token));
    if (!said) return;
    const result = await this.sidecar.execute<LoopResult>('ralph.loop.answer', said);
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

/** The safe answer first, and where all there is to know is shown with all answers. */
function buttonsOf(q: Question): Button[] {
  const it: LoopParams & { id: string } = { loopId: q.loopId, folder: q.folder, id: q.id };
  const [safe, second] = q.offers ?? [];
  const isShort = q.kind !== 'input' && (q.kind === 'permission' || (q.offers ?? []).length <= 2);
  const other = isShort ? second : { title: t('Answer...'), command: 'ralph.answer', arguments: [it] };
  return [...(safe ? [safe] : []), ...(other ? [other] : []), { title: t('Show'), command: 'ralph.showQuestion', arguments: [it] }];
}

/** What the user says to a question, as far as it isn't given. */
async function choose(q: Question, given: Said | undefined, token: vscode.CancellationToken): Promise<Said | undefined> {
  const said: Said = { loopId: q.loopId, folder: q.folder, id: q.id, answer: given?.answer, text: given?.text };
  if (!said.answer) {
    const offers = (q.offers ?? []).map((o) => ({ label: iconless(o.title), said: o.arguments?.[0] as Said }));
    const write = q.kind === 'input' ? [{ label: t('Write an answer...'), said: { answer: 'value' as const } }] : [];
    const picked = await pick([...offers, ...write], { title: q.text, placeHolder: q.detail?.slice(0, 300) }, token);
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
