// The bar for a search.
import type { Words } from '../src/panel/words';
import { Finder, type Hit } from './finder';
import { fill } from './render';

export interface Search {
  /** Asks for the hits in the parts. */
  search(search: number, text: string): void;
  /** Adds those of the tail. */
  tail(finder: Finder): void;
  go(hit: Hit): void;
  marks(): void;
  closed(): void;
}

/** Milliseconds without a key before the search begins. */
const pause = 150;

export class FindBar {
  private readonly finder = new Finder();
  private readonly input: HTMLInputElement;
  private readonly count: HTMLElement;
  private words: Words | undefined;
  private timer = 0;

  constructor(private readonly bar: HTMLElement, private readonly on: Search) {
    this.input = bar.querySelector('input')!;
    this.count = bar.querySelector('.count')!;
    this.input.addEventListener('input', () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.begin(), pause);
    });
    this.input.addEventListener('keydown', (e) => {
      if (e.key === 'Enter') this.next(e.shiftKey ? -1 : 1);
    });
    const [before, after, close] = bar.querySelectorAll('button');
    before!.addEventListener('click', () => this.next(-1));
    after!.addEventListener('click', () => this.next(1));
    close!.addEventListener('click', () => this.close());
  }

  /** What is looked for; '': nothing. */
  get text(): string {
    return this.isOpen ? this.finder.text : '';
  }

  get isOpen(): boolean {
    return !this.bar.hidden;
  }

  localise(words: Words): void {
    this.words = words;
    this.input.placeholder = words.find;
    this.bar.setAttribute('aria-label', words.find);
    this.input.setAttribute('aria-label', words.find);
    const titles = [words.previous, words.next, words.close];
    this.bar.querySelectorAll('button').forEach((b, i) => {
      b.title = titles[i]!;
      b.setAttribute('aria-label', titles[i]!);
    });
  }

  open(): void {
    this.bar.hidden = false;
    this.input.select();
    this.input.focus();
    this.on.marks();
  }

  close(): void {
    if (!this.isOpen) return;
    this.bar.hidden = true;
    this.on.marks();
    this.on.closed();
  }

  next(by: 1 | -1): void {
    if (this.input.value !== this.finder.text) return this.begin();
    const hit = this.finder.go(by);
    this.tell();
    if (hit) this.on.go(hit);
  }

  /** Takes what was found in the parts. */
  found(search: number, hits: readonly [number, number][], done: boolean): void {
    const { finder } = this;
    if (search !== finder.search || finder.isDone) return;
    finder.add(hits);
    if (done) {
      finder.isDone = true;
      this.on.tail(finder);
    }
    if (finder.at < 0 && finder.hits.length > 0) this.next(1);
    this.tell();
  }

  private begin(): void {
    clearTimeout(this.timer);
    this.finder.begin(this.input.value);
    if (this.finder.text) this.on.search(this.finder.search, this.finder.text);
    this.tell();
    this.on.marks();
  }

  private tell(): void {
    const { text, hits, at, isDone } = this.finder;
    const total = `${hits.length}${isDone ? '' : '+'}`;
    this.count.textContent = !this.words || text === '' ? '' : hits.length === 0 ? (isDone ? this.words.notFound : this.words.loading) : fill(this.words.found, at + 1, total);
  }
}
