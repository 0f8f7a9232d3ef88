// The page of a transcript: takes what the extension sends, shows it, and tells what the user wants.
import { isPossible } from '../src/can';
import { readState, type FromPage, type Place, type ToPage } from '../src/panel/messages';
import type { Words } from '../src/panel/words';
import type { Offer, Question } from '../src/wire';
import { Composer } from './composer';
import { FindBar } from './findBar';
import { onKeys } from './keys';
import { List } from './list';
import { LoopList } from './loopList';
import { mark } from './marks';
import type { Row, SaidRow } from './model';
import { drawn, folds, h, render, timeOf, type Look } from './render';
import { Store } from './store';

interface Editor { postMessage(m: FromPage): void; getState(): unknown; setState(s: object): void }
declare function acquireVsCodeApi(): Editor;

/** Seconds without a sign of life after which what is shown is old. */
const patience = 8;

const editor = acquireVsCodeApi();
const element = (id: string): HTMLElement => document.getElementById(id)!;
const [view, feed, pill, status, message] = ['view', 'feed', 'follow', 'status', 'message'].map(element) as [HTMLElement, HTMLElement, HTMLElement, HTMLElement, HTMLElement];

export class Page {
  private store = new Store();
  private generation = -1;
  private words: Words | undefined;
  private loop: { loopId: string; folder?: string; title: string } | undefined;
  private files: string | undefined;
  private toolStartedAt: number | undefined;
  /** Seconds that nothing came, by this page's own clock: a machine that slept is no reason. */
  private silence = 0;
  private status = { title: '', line: '' };
  /** What the agent waits to be told. */
  private questions: Question[] = [];
  /** What can be done with the loop now. */
  private can: string[] = [];
  /** Rows that are not as they are by themselves: folded or not, all of an output. */
  private readonly turned = new Set<string>();
  private readonly whole = new Set<string>();
  private readonly wanted = new Set<number>();
  /** Where the user wants to be, while the part for it is read. */
  private goal: Place | { part: number; row: number } | undefined;
  private current = '';
  private readonly list: List;
  private readonly bar: FindBar;
  private readonly composer: Composer;
  private readonly loops = new LoopList(element('loops'), (loopId) => editor.postMessage({ type: 'choose', loopId }));
  private draft = '';

  constructor() {
    this.list = new List(view, feed, {
      items: () => this.store.items((key, row) => this.isOpen(key, row)), make: (key) => this.make(key), version: (key) => this.version(key), shown: (keys) => this.shown(keys),
    }, () => (pill.hidden = this.list.follows));
    this.bar = new FindBar(element('find'), {
      search: (search, text) => editor.postMessage({ type: 'find', search, text }),
      tail: (finder) => finder.addRows(this.store.tailIndex, this.store.tailRows()),
      go: (hit) => this.goTo({ part: hit.part, row: hit.row }),
      marks: () => this.mark(),
      closed: () => this.focus(this.current),
    });
    this.composer = new Composer(element('composer'), {
      post: (m) => editor.postMessage(m), leave: () => this.focus(this.current),
      keep: (text) => {
        if (text === this.draft) return;
        this.draft = text;
        editor.postMessage({ type: 'draft', text });
        this.remember();
      },
    });
    onKeys(view, {
      move: (by) => this.goesElsewhere(() => this.move(by)), end: (which) => this.goesElsewhere(() => this.toEnd(which)), page: (by) => this.goesElsewhere(() => this.list.page(by)), toggle: () => this.enter(), iteration: (by) => this.iteration(by),
      pick: () => editor.postMessage({ type: 'goTo' }), find: () => this.bar.open(), again: (by) => this.bar.next(by), follow: () => this.list.follow(), write: () => this.composer.focus(), escape: () => this.bar.close(),
    });
    document.addEventListener('click', (e) => this.clicked(e));
    document.addEventListener('keydown', (e) => e.key === 'Enter' && (e.target as HTMLElement).matches('a') && this.clicked(e));
    feed.addEventListener('error', (e) => this.missing(e.target), true);
    feed.addEventListener('load', () => this.list.changed(), true); // a picture has its height now
    view.addEventListener('focusin', (e) => (this.current = keyOf(e.target) ?? this.current));
    window.addEventListener('focus', () => document.activeElement?.matches('body, #view') && this.focus(this.current)); // what was gone to while it was elsewhere
    pill.addEventListener('click', () => this.list.follow());
    for (const [id, run] of [['before', () => this.iteration(-1)], ['after', () => this.iteration(1)], ['goto', () => editor.postMessage({ type: 'goTo' })], ['search', () => this.bar.open()], ['text', () => editor.postMessage({ type: 'asText' })], ['tab', () => editor.postMessage({ type: 'asTab' })]] as const) {
      element(id).addEventListener('click', run);
    }
    element('tab').append(...drawn('go-to-file'));
    element('bar').hidden = false; // a script waits for the style: before that it would be seen without
    setInterval(() => this.tick(), 1000);
    window.addEventListener('message', (e: MessageEvent<ToPage>) => this.take(e.data));
    editor.postMessage({ type: 'ready' });
  }

  private take(m: ToPage): void {
    this.hear(0);
    if ('generation' in m && m.type !== 'open' && m.generation !== this.generation) return; // it is of no use any more
    switch (m.type) {
      case 'open': return this.open(m);
      case 'part':
        this.wanted.delete(m.index);
        this.store.take(m.index, m.updates, this.partInView());
        return this.changed();
      case 'tail':
        this.store.add(m.updates, m.live ? Date.now() : undefined);
        if (m.complete) this.store.close();
        return this.changed();
      case 'status':
        this.status = { title: m.title, line: m.text };
        this.tell(this.status);
        this.toolStartedAt = m.toolStartedAt ? Date.parse(m.toolStartedAt) : undefined;
        this.questions = m.questions;
        this.can = m.can;
        this.composer.show(m.talks, m.buttons);
        return this.list.changed();
      case 'alive': return;
      case 'loops': return this.loops.show(m.loops);
      case 'chips': return this.composer.chips(m.chips);
      case 'mentions': return this.composer.mentions(m.id, m.paths);
      case 'insert': return this.composer.insert(m.text);
      case 'sent': return this.composer.sent(m.text);
      case 'reveal': return this.goTo(m.place);
      case 'failed': return this.say(m.text);
      case 'found': return this.bar.found(m.search, m.hits, m.done);
      case 'do': return { end: () => this.list.follow(), find: () => this.bar.open(), write: () => this.composer.focus() }[m.what]();
    }
  }

  private open(m: Extract<ToPage, { type: 'open' }>): void {
    const isSame = this.loop?.loopId === m.loopId;
    const before = this.loop ? undefined : readState(editor.getState()); // the page was here before its tab was hidden
    const place = m.reveal ?? (before?.loopId === m.loopId ? before.place : isSame && !this.list.follows ? this.place() : undefined);
    this.generation = m.generation;
    this.words = m.words;
    this.loop = { loopId: m.loopId, folder: m.folder, title: m.title };
    this.files = m.files;
    this.store = new Store(m.parts, m.iterations, m.thinking);
    this.wanted.clear();
    if (!isSame) [this.turned, this.whole].forEach((set) => set.clear());
    this.localise(m.words);
    this.goal = place;
    if (!place) this.list.follow();
    const draft = m.draft ?? (before?.loopId === m.loopId ? before.words : undefined);
    if (draft) this.composer.restore(this.draft = draft);
    element('tab').hidden = !m.isPanel;
    this.remember(place); // a tab without rows comes back after a reload, too
    this.changed();
  }

  private localise(words: Words): void {
    document.title = this.loop!.title;
    feed.setAttribute('aria-label', `${words.transcript}: ${this.loop!.title}`);
    pill.textContent = `↓ ${words.follow}`;
    const titles = { before: words.previousIteration, after: words.nextIteration, goto: words.goTo, search: words.find, text: words.asText, tab: words.asTab };
    for (const [id, title] of Object.entries(titles)) {
      element(id).title = title;
      element(id).setAttribute('aria-label', title);
    }
    element('loops').setAttribute('aria-label', words.loops);
    this.bar.localise(words);
    this.composer.localise(words);
  }

  /** How the loop stands, on one line or on two, as there is room. */
  private tell({ title, line }: { title: string; line: string }): void {
    const [first, second] = status.children as unknown as [HTMLElement, HTMLElement];
    first.textContent = title;
    second.textContent = line;
    status.title = [title, line].filter(Boolean).join(' · ');
  }

  private changed(): void {
    if (this.words) this.say(this.store.isEmpty ? this.words.nothing : '');
    this.list.changed();
    if (this.goal) requestAnimationFrame(() => this.goal && this.goTo(this.goal));
  }

  private say(text: string): void {
    message.textContent = text;
    message.hidden = text === '';
  }

  // Rows.

  private get look(): Look {
    return { words: this.words!, endOf: (row) => this.store.endOf(row), toolStartedAt: this.toolStartedAt, files: this.files, offersOf: (row) => this.offersOf(row), isOpen: (key) => this.isOpen(key), showsAll: (key) => this.whole.has(key) };
  }

  /** An agent at work, a question that waits and the loop's end are open and another row closed, unless the user turned it. */
  private isOpen(key: string, row = this.store.row(key)): boolean {
    const waits = row?.kind === 'said' && row.question !== undefined && this.offersOf(row).length > 0;
    return this.turned.has(foldOf(key, row)) !== (waits || (row?.kind === 'said' && row.about === 'end') || isWorking(row));
  }

  /** What can still be done about what was said; the answers to a question as long as it is open. */
  private offersOf(row: SaidRow): Offer[] {
    if (!row.question) return row.offers.filter((offer) => isPossible(offer, this.can));
    return this.questions.find((q) => q.id === row.question?.id && q.at === row.question.at)?.offers ?? [];
  }

  private make(key: string): HTMLElement {
    const row = this.store.row(key);
    if (row) return render(row, key, this.look);
    return h('div', { class: 'row unread', 'data-key': key }, this.words?.loading ?? '');
  }

  private version(key: string): string {
    const row = this.store.row(key);
    if (!row) return 'unread';
    const end = row.kind === 'iteration' ? this.store.endOf(row) : undefined;
    const known = row.kind === 'iteration' ? (end === 'cut' ? end : end?.text) : row.kind === 'said' ? this.offersOf(row).length : '';
    return `${row.version} ${this.isOpen(key, row)} ${this.whole.has(key)} ${known}`;
  }

  private shown(keys: string[]): void {
    for (const key of keys) if (!key.includes(':')) this.want(Number(key));
    this.mark();
    const top = this.list.first();
    if (top) this.remember();
  }

  /** Leaves for the next page of this tab where the user is, and what is written. */
  private remember(place = this.list.follows ? undefined : this.place()): void {
    if (this.loop) editor.setState({ ...this.loop, place, ...(this.draft && { words: this.draft }) });
  }

  private want(index: number): void {
    if (this.wanted.has(index)) return;
    this.wanted.add(index);
    editor.postMessage({ type: 'want', generation: this.generation, index });
  }

  private mark(): void {
    mark([...feed.querySelectorAll<HTMLElement>('.row')], this.bar.text);
  }

  /** With nobody there nothing runs on, and nothing can be done. */
  private hear(silence: number): void {
    this.silence = silence;
    const isStale = silence > patience;
    if (!this.words || isStale === document.body.classList.contains('stale')) return;
    document.body.classList.toggle('stale', isStale);
    this.tell(isStale ? { title: this.words.stale, line: '' } : this.status);
  }

  private tick(): void {
    this.hear(this.silence + 1);
    if (this.silence > patience) return;
    for (const [key, row] of this.store.running()) {
      const time = this.list.element(key)?.querySelector('.time');
      if (time) time.textContent = timeOf(row, this.look);
    }
  }

  // Places.

  private partInView(): number {
    return Number(this.list.first()?.split(':')[0] ?? 0);
  }

  /** What the top of the view shows. */
  private place(): Place | undefined {
    const top = this.list.first();
    if (!top) return undefined;
    const row = this.store.row(top);
    return { iteration: this.store.iterationOf(top), ...(row?.kind === 'tool' ? { toolCallId: row.callId } : {}) };
  }

  /** Goes to a place, once what is there has been read. */
  private goTo(goal: Place | { part: number; row: number }): void {
    this.goal = goal;
    if ('part' in goal) {
      if (!this.store.isHere(goal.part)) return this.want(goal.part);
      return this.arrive(`${goal.part}:${goal.row}`, false, this.bar.text !== '');
    }
    const found = this.store.find(goal);
    if (found && 'read' in found) return this.want(found.read);
    if (found) this.arrive(found.key, true, found.row.kind === 'tool');
  }

  private arrive(key: string, toTop: boolean, opens: boolean): void {
    this.goal = undefined;
    const row = this.store.row(key);
    for (const above of this.store.above(key)) this.unfold(above);
    if (opens && row && folds(row)) {
      this.unfold(key);
      if (this.bar.text) this.whole.add(key);
    }
    this.list.changed();
    this.current = key;
    requestAnimationFrame(() => {
      if (this.current !== key) return;
      this.list.show(key, toTop);
      if (!this.bar.isOpen) this.focus(key);
    });
  }

  private iteration(by: 1 | -1): void {
    const numbers = this.store.numbers();
    const now = this.store.iterationOf(this.list.first() ?? '');
    const at = numbers.indexOf(now);
    const to = at < 0 ? numbers[0] : numbers[Math.max(0, Math.min(numbers.length - 1, at + by))];
    if (to !== undefined) this.goTo({ iteration: to });
  }

  // The user.

  /** Moves as the user wants, who then doesn't want to go where it was on the way to. */
  private goesElsewhere(move: () => void): void {
    this.goal = undefined;
    move();
  }

  /** Moves the focus within the page; it takes it from nobody else. */
  private focus(key: string): void {
    if (!document.hasFocus()) return;
    const row = this.list.element(key);
    if (row) row.focus({ preventScroll: true });
    else view.focus();
  }

  private move(by: 1 | -1): void {
    const keys = this.list.keys();
    const at = keys.indexOf(this.current);
    const start = this.list.element(this.current) ? at : keys.indexOf(this.list.first() ?? '') - (by > 0 ? 1 : 0);
    const key = keys[Math.max(0, Math.min(keys.length - 1, start + by))];
    if (!key) return;
    this.current = key;
    this.list.show(key, false);
    this.focus(key);
  }

  private toEnd(which: 'first' | 'last'): void {
    const keys = this.list.keys();
    const key = which === 'first' ? keys[0] : keys.at(-1);
    if (!key) return;
    this.current = key;
    if (which === 'first') this.list.show(key, true);
    else this.list.follow();
    requestAnimationFrame(() => this.focus(key));
  }

  private enter(): void {
    const row = this.store.row(this.current);
    if (row?.kind === 'iteration') editor.postMessage({ type: 'changes', iteration: row.iteration });
    else if (row && folds(row)) this.fold(this.current);
  }

  private fold(key: string): void {
    this.list.yield();
    this.turn(key);
    this.list.changed();
  }

  private turn(key: string): void {
    const fold = foldOf(key, this.store.row(key));
    if (!this.turned.delete(fold)) this.turned.add(fold);
  }

  private unfold(key: string): void {
    if (!this.isOpen(key)) this.turn(key);
  }

  /** A picture that isn't there is said by its words. */
  private missing(target: EventTarget | null): void {
    if (!(target instanceof HTMLImageElement)) return;
    target.replaceWith(h('span', { class: 'missing' }, target.alt));
    this.list.changed();
  }

  private clicked(e: Event): void {
    const at = (e.target as HTMLElement).closest<HTMLElement>('[data-do], a');
    if (!at) return;
    e.preventDefault();
    const { path, line, column, web } = at.dataset;
    if (web !== undefined) return editor.postMessage({ type: 'web', address: web });
    if (path !== undefined) return editor.postMessage({ type: 'open', path, line: line ? Number(line) : undefined, column: column ? Number(column) : undefined });
    const key = keyOf(at) ?? '';
    const row = this.store.row(key);
    switch (at.dataset.do) {
      case 'fold': return this.fold(key);
      case 'more':
        this.list.yield();
        this.whole.add(key);
        return this.list.changed();
      case 'changes': return void (row?.kind === 'iteration' && editor.postMessage({ type: 'changes', iteration: row.iteration }));
      case 'output': return void (row?.kind === 'tool' && editor.postMessage({ type: 'output', iteration: row.iteration, toolCallId: row.callId }));
      case 'offer': {
        const offer = row?.kind === 'said' ? this.offersOf(row)[Number(at.dataset.n)] : undefined;
        if (offer) editor.postMessage({ type: 'offer', offer });
      }
    }
  }
}

const isWorking = (row: Row | undefined): boolean => row?.kind === 'tool' && row.isAgent && row.status === 'in_progress';

/** What is remembered of a row that the user turned; an agent that ends folds again. */
const foldOf = (key: string, row: Row | undefined): string => (isWorking(row) ? `${key} at work` : key);

const keyOf = (target: EventTarget | null): string | undefined => (target as HTMLElement | null)?.closest<HTMLElement>('[data-key]')?.dataset.key;

new Page();
