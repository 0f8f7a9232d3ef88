// One life of the extension: from the start of pi's session to its end.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ExtensionAPI, ExtensionContext, InputEvent, InputEventResult } from '@earendil-works/pi-coding-agent';
import { leaveIt, Questions } from './ask.ts';
import { commandIn, registerCommands } from './commands.ts';
import { type Entry, Feed, type Page } from './feed.ts';
import { type Connection, describe, type End } from './rpc.ts';
import { key, plain, renderEntry, Screen } from './show.ts';
import { bequeath, type Estate, findProgram, folderOf, greet, inherit, launch, uriOf } from './sidecar.ts';
import { type Answer, type Class, type Command, type Loop, type Name, type Question, Refusal, type Status, type Updates } from './wire.ts';

const levels = { info: 'info', ok: 'info', warning: 'warning', error: 'error' } as const satisfies Record<Class, string>;
const stopPatience = 1500; // ms that pi's end may take
const restartAfter = 30_000; // ms that a sidecar has to have lived to be started again by itself
const mostDetail = 15; // lines of a question in a dialog
const largestDocument = 100_000; // bytes of it that are shown

/** What commands answer, as far as it is shown. */
export interface Result {
  text?: string;
  class?: Class;
  markdown?: string;
  checks?: { ok: boolean; message: string; fix?: string; minor?: boolean }[];
  offers?: Command[];
}

/** A file that the sidecar had shown. */
export interface Shown { path: string; text: string }

export class Ralph {
  readonly ctx: ExtensionContext;
  readonly questions: Questions;
  readonly feed: Feed;
  /** The file that the last command had shown. */
  shown: Shown | undefined;
  private readonly pi: ExtensionAPI;
  private readonly screen: Screen;
  private estate: Estate | undefined;
  private connecting: Promise<Connection> | undefined;
  private startedAt = 0;
  private over = false;
  private readonly asked = new Map<string, AbortController>(); // by loop: what its user is asked

  constructor(pi: ExtensionAPI, ctx: ExtensionContext) {
    this.pi = pi;
    this.ctx = ctx;
    this.estate = inherit();
    this.questions = new Questions(ctx.ui);
    this.feed = new Feed({
      changed: () => this.screen.changed(),
      tell: (entry) => this.tell(entry),
      offered: (loop, update) => { void this.offer(loop, `Ralph: ${update.text}`, update.offers ?? []); },
      read: (loopId, after) => this.execute('ralph.loop.read', { loopId, after }) as Promise<Page>,
    }, this.estate?.heard);
    this.screen = new Screen(ctx, this.feed, () => this.loop());
  }

  /** Looks what there is in the folder. A sidecar that is missing is no news here. */
  async begin(): Promise<void> {
    const inherited = this.estate;
    await this.connect().catch(() => {});
    if (inherited) await this.feed.catchUpAll();
  }

  /** Leaves: the sidecar ends with pi, but not with its session. */
  async end(reason: string): Promise<void> {
    this.over = true;
    this.questions.end();
    this.screen.end();
    const { estate } = this;
    if (!estate) return;
    if (reason === 'quit') {
      estate.connection.listener = undefined;
      await estate.connection.stop(stopPatience);
    } else {
      bequeath(estate);
    }
  }

  get folder(): string {
    return uriOf(this.ctx.cwd);
  }

  get program(): string {
    return this.estate?.program ?? findProgram(process.env);
  }

  /** The loop that the session is about: that of its folder, or the only one, in a worktree. One that is over gives way to one that isn't. */
  loop(): Loop | undefined {
    const { loops } = this.feed;
    const own = this.estate && loops.find((loop) => loop.folder === this.folder);
    const live = loops.filter((loop) => loop.live);
    if (!own?.live && live.length === 1) return live[0];
    return own ?? (loops.length === 1 ? loops[0] : undefined);
  }

  /** What a command is about: that loop, or the one that the user chooses of those in worktrees. */
  async target(): Promise<{ folder: string; loopId?: string }> {
    let loop = this.loop();
    if (!loop && this.feed.loops.length > 0) {
      const titles = this.feed.loops.map((one) => plain(`${one.title ?? ''}: ${one.text ?? one.state}`));
      const chosen = await this.questions.choose('Which loop?', titles);
      loop = this.feed.loops[titles.indexOf(chosen ?? '')];
    }
    return loop ? { folder: loop.folder, ...loop.loopId && { loopId: loop.loopId } } : { folder: this.folder };
  }

  async execute(command: Name, argument: Record<string, unknown>): Promise<unknown> {
    const connection = await this.connect();
    return connection.request('workspace/executeCommand', { command, arguments: [argument] });
  }

  /** Runs a command, shows what came of it, and asks where something else can be done. */
  async run<R extends Result>(command: Name, argument: Record<string, unknown>, present?: (result: R) => void): Promise<void> {
    try {
      this.shown = undefined;
      const result = await this.execute(command, argument) as R;
      if (present) present(result);
      else if (result?.text && result.offers?.length) await this.choose(`Ralph: ${result.text}`, result.offers);
      else this.show(result);
    } catch (error) {
      const { question, offers } = (error as Partial<Refusal>).data ?? {}; // it may be of the extension's last life
      const message = error instanceof Error ? error.message : String(error);
      if (!offers?.length) {
        this.say(message, 'error');
        return;
      }
      await this.choose(question ?? `Ralph: ${message}`, offers);
    }
  }

  /** Tells the user something that isn't part of the conversation. */
  say(text: string, kind: Class = 'info'): void {
    if (!this.over) this.ctx.ui.notify(`Ralph: ${text.split('\n').map(plain).join('\n')}`, levels[kind]);
  }

  /** Puts something into the conversation that the model doesn't see. */
  tell(entry: Entry): void {
    if (this.over) return;
    this.pi.appendEntry(key, entry);
    if (this.ctx.mode !== 'tui') this.ctx.ui.notify(entry.markdown ?? ['Ralph ' + entry.text, ...entry.rows ?? []].map(plain).join('\n'), levels[entry.class]);
  }

  /** Lets the user choose one of some commands, and runs it. */
  async choose(title: string, offers: Command[], moot?: AbortSignal, present?: (result: Result) => void): Promise<void> {
    const chosen = await this.questions.choose(title.split('\n').map(plain).join('\n'), [leaveIt, ...offers.map((o) => o.title)], moot);
    const offer = offers.find((o) => o.title === chosen);
    if (offer && !moot?.aborted) await this.run(offer.command as Name, (offer.arguments?.[0] ?? {}) as Record<string, unknown>, present);
  }

  /** Asks before a message to pi takes the place of what a loop does. */
  async input(event: InputEvent): Promise<InputEventResult | undefined> {
    if (event.source === 'extension') return undefined;
    const command = commandIn(event.text);
    if (command) { // with a line break behind its name, which pi takes for a part of that
      await command.run(this, command.rest);
      return { action: 'handled' };
    }
    const loop = this.loop();
    if (!loop?.live || !loop.question) return undefined;
    const cancel = 'Cancel it and send the message', steer = 'Tell it to the loop', aside = 'Send the message, the loop goes on';
    switch (await this.questions.choose(loop.question, [leaveIt, cancel, steer, aside])) {
      case cancel:
        await this.run('ralph.loop.cancel', { loopId: loop.loopId, folder: loop.folder });
        return { action: 'continue' };
      case steer:
        await this.run('ralph.loop.steer', { loopId: loop.loopId, folder: loop.folder, text: event.text });
        return { action: 'handled' };
      case aside:
        return { action: 'continue' };
      default:
        this.ctx.ui.setEditorText(event.text);
        this.screen.redraw();
        return { action: 'handled' };
    }
  }

  private show(result: Result | undefined): void {
    const class_ = result?.class ?? 'info';
    if (result?.markdown) this.tell({ text: 'help', class: class_, markdown: result.markdown });
    else if (result?.checks) this.tell({ text: result.text ?? '', class: class_, rows: result.checks.filter((c) => !c.minor).map((c) => `${c.ok ? '✓' : '✗'} ${c.message}${c.fix && !c.ok ? `: ${c.fix}` : ''}`) });
    else if (this.shown) this.tell({ text: this.shown.path, class: class_, more: this.shown.text.split('\n') });
    else if (result?.text) this.say(result.text, class_);
  }

  /** The sidecar, which is started when need be. */
  private connect(): Promise<Connection> {
    if (this.over) return Promise.reject(new Refusal('pi has left the session'));
    const { estate } = this;
    if (estate?.connection.isOpen) {
      if (!this.connecting) { // it is inherited
        this.connecting = Promise.resolve(estate.connection);
        this.listen(estate);
        this.addFolder(estate);
        void this.execute('ralph.loop.status', {}).then((status) => this.takeUp(status as Status), () => {});
      }
      return this.connecting;
    }
    this.connecting = this.startUp().catch((error: unknown) => {
      this.connecting = undefined;
      throw error;
    });
    return this.connecting;
  }

  private async startUp(): Promise<Connection> {
    const folder = this.ctx.cwd;
    const program = findProgram(process.env);
    if (!fs.existsSync(folder)) throw new Refusal(`there is no folder ${folder}`);
    const connection = launch(program);
    const estate = { connection, program, folders: new Set([folder]), heard: this.feed.heard, over: new Map<string, string>() };
    this.estate = estate;
    this.startedAt = Date.now();
    this.listen(estate);
    try {
      await greet(connection, program, folder);
    } catch (error) {
      connection.listener = undefined;
      this.estate = undefined;
      await connection.stop(0);
      throw error;
    }
    return connection;
  }

  private addFolder(estate: Estate): void {
    if (estate.folders.has(this.ctx.cwd)) return;
    estate.folders.add(this.ctx.cwd);
    estate.connection.notify('workspace/didChangeWorkspaceFolders', { event: { added: [folderOf(this.ctx.cwd)], removed: [] } });
  }

  private listen(estate: Estate): void {
    estate.connection.listener = {
      notified: (method, params) => this.notified(method, params),
      asked: (method, params, signal) => this.answer(method, params, signal),
      ended: (end) => this.ended(end),
    };
  }

  private notified(method: string, params: unknown): void {
    if (method === 'ralph/status') this.status(params as Status);
    else if (method === 'ralph/update') this.feed.updates(params as Updates);
    else if (method === 'window/showMessage') {
      const { type, message } = params as { type: number; message: string };
      this.ctx.ui.notify(message.split('\n').map(plain).join('\n'), type === 1 ? 'error' : type === 2 ? 'warning' : 'info');
    }
  }

  /** Answers what the sidecar asks. */
  private async answer(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    switch (method) {
      case 'window/showMessageRequest': {
        const { message, actions = [] } = params as { message: string; actions?: { title: string }[] };
        const chosen = await this.questions.choose(message.split('\n').map(plain).join('\n'), actions.map((a) => a.title), signal);
        return actions.find((a) => a.title === chosen) ?? null;
      }
      case 'window/showDocument': {
        const path = fileURLToPath((params as { uri: string }).uri);
        const file = await fs.promises.open(path);
        try {
          const { buffer, bytesRead } = await file.read(Buffer.alloc(largestDocument), 0, largestDocument, 0);
          this.shown = { path, text: buffer.toString('utf8', 0, bytesRead) };
        } finally {
          await file.close();
        }
        return { success: true };
      }
      case 'ralph/permission':
        return this.permission(params as Question, signal);
      case 'window/workDoneProgress/create':
        return null;
    }
    throw new Error(`pi can't ${method}`);
  }

  /** Asks what the agent of a loop waits to be told; undefined: nothing yet. */
  private async permission(question: Question, moot: AbortSignal): Promise<Answer | undefined> {
    await this.summon(`Ralph ${question.text}`, moot);
    const answer = await this.questions.turn((signal) => this.dialog(question, signal), moot);
    return moot.aborted ? undefined : answer;
  }

  private async dialog(question: Question, signal: AbortSignal): Promise<Answer | undefined> {
    const { ui } = this.ctx;
    const { text: asks = '', detail = '', offers: answers = [] } = question;
    const title = `Ralph ${asks}${asks.endsWith(detail.trim()) ? '' : `\n${excerpt(detail)}`}`;
    if (question.kind === 'input') {
      const text = await ui.input(title, question.placeholder, { signal });
      return text ? { answer: 'value', text } : undefined;
    }
    const offers = answers.map((offer) => ({ title: plain(offer.title), given: offer.arguments?.[0] as Answer | undefined }));
    const chosen = await ui.select(title, offers.map((offer) => offer.title), { signal });
    const given = offers.find((offer) => offer.title === chosen)?.given;
    if (!given) return undefined;
    const why = given.answer === 'deny' && question.kind === 'permission' ? await ui.input('Why not? The agent reads it', undefined, { signal }) : undefined;
    const text = why || given.text;
    return { answer: given.answer, ...text && { text } };
  }

  private status(status: Status): void {
    this.feed.status(status);
    for (const loop of status.loops) this.lookAt(loop);
  }

  /** Goes on where the extension's last life has left: what agents asked it is asked again. */
  private takeUp(status: Status): void {
    this.status(status);
    for (const { loopId, folder, id } of status.loops.flatMap((loop) => loop.questions ?? [])) {
      void this.execute('ralph.loop.answer', { loopId, folder, id }).catch(() => {}); // answered meanwhile
    }
  }

  /** Asks once about a loop that is over and about which something can be done. */
  private lookAt(loop: Loop): void {
    const id = loop.loopId ?? loop.folder;
    const how = loop.live ? '' : loop.state + (loop.endedAt ?? '');
    const over = this.estate?.over;
    if (!over || (over.get(id) ?? '') === how) return;
    over.set(id, how);
    this.asked.get(id)?.abort(); // what it was about is past
    if (how === '' || !loop.offers?.length) return;
    void this.offer(loop, `Ralph: ${loop.text ?? loop.state}`, loop.offers);
  }

  private async offer(loop: Loop, title: string, offers: Command[]): Promise<void> {
    const moot = new AbortController();
    this.asked.set(loop.loopId ?? loop.folder, moot);
    await this.summon(title, moot.signal, offers);
    if (!this.over) await this.choose(title, offers, moot.signal);
  }

  /** Tells what waits for the user, and by which command they come for it: a dialog would take the keys that they type. */
  private async summon(text: string, moot: AbortSignal, offers: Command[] = []): Promise<void> {
    if (this.ctx.mode !== 'tui') return; // a program shows the dialog in its own way
    const titles = offers.map((offer) => offer.title).join(', ');
    if (!this.over && !this.questions.isExpected) this.ctx.ui.notify(`${plain(text)} · /ralph-answer${titles && `: ${plain(titles)}`}`, 'warning');
    await this.questions.wait(moot);
  }

  /** The sidecar has ended by itself. */
  private ended(end: End): void {
    const hadLoop = this.feed.loops.some((loop) => loop.owned && loop.live);
    this.estate = this.connecting = undefined;
    this.feed.status({ message: '', loops: [] });
    if (!hadLoop || this.over) return;
    this.say(describe(end), 'error');
    if (Date.now() - this.startedAt > restartAfter || end.signal) void this.begin(); // it tells what it finds
  }
}

/** The beginning of a text, as far as a dialog has room; an entry has all of it. */
function excerpt(text: string): string {
  const lines = text.trimEnd().split('\n').map(plain);
  return (lines.length <= mostDetail ? lines : [...lines.slice(0, mostDetail), `… ${lines.length - mostDetail} more lines (ctrl+o)`]).join('\n');
}

/** Registers all that the extension has. */
export function register(pi: ExtensionAPI): void {
  let now: Ralph | undefined;
  pi.registerEntryRenderer<Entry>(key, renderEntry);
  registerCommands(pi, () => now);
  pi.on('session_start', (_, ctx) => {
    if (!ctx.hasUI) return; // nobody looks: a headless run is left alone
    now = new Ralph(pi, ctx);
    void now.begin();
  });
  pi.on('session_shutdown', async (event) => {
    const last = now;
    now = undefined;
    await last?.end(event.reason);
  });
  pi.on('input', (event) => now?.input(event));
}
