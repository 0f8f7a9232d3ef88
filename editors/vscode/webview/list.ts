// A list of which only what is in view is in the page.
import { Heights, type Anchor, type Item } from './heights';

export interface Source {
  /** The items now; called when they may have changed. */
  items(): Item[];
  /** Makes an item's element. */
  make(key: string): HTMLElement;
  /** Differs from what it was when the element has to be made again. */
  version(key: string): string;
  /** What was shown is in the page. */
  shown(keys: string[]): void;
}

/** Pixels above and below the view that are in the page too. */
const margin = 600;
/** Pixels that are free below the end. */
const bottom = 16;
/** Heights that turn out differently bring others into view; it ends. */
const maxPasses = 4;

export class List {
  /** Stays at the end. */
  follows = true;
  private readonly heights = new Heights();
  private items: Item[] = [];
  private readonly elements = new Map<string, { element: HTMLElement; version: string }>();
  private readonly above = document.createElement('div');
  private readonly below = document.createElement('div');
  private anchor: Anchor | undefined;
  private frame = 0;
  private isStale = true;
  private width = 0;
  /** Where it was scrolled to by itself: no wish of the user's. */
  private set = -1;

  constructor(private readonly view: HTMLElement, private readonly feed: HTMLElement, private readonly source: Source, private readonly onFollow: () => void) {
    for (const spacer of [this.above, this.below]) spacer.setAttribute('aria-hidden', 'true');
    feed.append(this.above, this.below);
    view.addEventListener('scroll', () => this.scrolled(), { passive: true });
    view.addEventListener('wheel', (e) => e.deltaY < 0 && this.yield(), { passive: true });
    view.addEventListener('touchmove', () => this.yield(), { passive: true });
    view.addEventListener('pointerdown', (e) => e.target === view && e.offsetX >= view.clientWidth && this.yield()); // the scroll bar
    new ResizeObserver(() => this.resized()).observe(view);
  }

  /** The items are others, or look different. */
  changed(): void {
    this.isStale = true;
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  /** The user looks elsewhere than at the end. */
  yield(): void {
    if (!this.follows) return;
    this.follows = false;
    this.anchor = this.heights.anchor(this.view.scrollTop);
    this.onFollow();
  }

  follow(): void {
    this.follows = true;
    this.onFollow();
    this.changed();
  }

  /** Brings an item into view, its beginning at the top or as little as needed. */
  show(key: string, toTop: boolean): void {
    const index = this.heights.indexOf(key);
    if (index < 0) return;
    const [top, end] = [this.heights.top(index), this.heights.top(index + 1)];
    const { scrollTop, clientHeight } = this.view;
    this.yield();
    if (toTop || top < scrollTop || end - top > clientHeight) this.anchor = { key, offset: 0 };
    else if (end > scrollTop + clientHeight) this.anchor = this.heights.anchor(end - clientHeight);
    this.isStale = true;
    this.draw();
  }

  /** An item that is in the page. */
  element(key: string): HTMLElement | undefined {
    return this.elements.get(key)?.element;
  }

  /** The key of the item at the top of the view. */
  first(): string | undefined {
    return this.items[this.heights.at(this.view.scrollTop + 1)]?.key;
  }

  keys(): string[] {
    return this.items.map((i) => i.key);
  }

  page(by: number): void {
    this.yield();
    this.view.scrollTop += by * (this.view.clientHeight - 40);
  }

  private scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.view;
    if (Math.abs(scrollTop - this.set) < 2) return;
    this.set = -1;
    if (!this.follows && scrollTop + clientHeight >= scrollHeight - 4) {
      this.follows = true;
      this.onFollow();
    }
    if (!this.follows) this.anchor = this.heights.anchor(scrollTop);
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  private resized(): void {
    if (this.view.clientWidth !== this.width) this.heights.forgetAll();
    this.width = this.view.clientWidth;
    this.changed();
  }

  private draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.view.clientHeight === 0) return; // nobody sees it
    if (this.isStale) {
      this.items = this.source.items();
      this.heights.set(this.items);
      this.isStale = false;
    }
    let range: [number, number] = [0, 0];
    for (let pass = 0; pass < maxPasses; pass++) {
      const top = this.wanted();
      range = this.heights.range(top - margin, top + this.view.clientHeight + margin);
      this.place(range);
      if (!this.measure(range)) break;
    }
    this.space(range);
    this.scrollTo(this.wanted());
    this.source.shown(this.items.slice(...range).map((i) => i.key));
  }

  /** Where the view's top should be. */
  private wanted(): number {
    const end = Math.max(0, this.heights.total + bottom - this.view.clientHeight);
    return this.follows || !this.anchor ? end : Math.min(this.heights.find(this.anchor) ?? this.view.scrollTop, end);
  }

  private scrollTo(top: number): void {
    if (Math.abs(this.view.scrollTop - top) < 1) return;
    this.view.scrollTop = top;
    this.set = this.view.scrollTop;
  }

  private space([from, to]: [number, number]): void {
    this.above.style.height = `${this.heights.top(from)}px`;
    this.below.style.height = `${Math.max(0, this.heights.total - this.heights.top(to)) + bottom}px`;
  }

  /** Puts the elements of a range into the page, in order, and takes the others out. */
  private place([from, to]: [number, number]): void {
    const wanted = this.items.slice(from, to);
    const keys = new Set(wanted.map((i) => i.key));
    for (const [key, { element }] of this.elements) {
      if (keys.has(key)) continue;
      element.remove();
      this.elements.delete(key);
    }
    let next: ChildNode | null = this.above.nextSibling;
    wanted.forEach(({ key }, i) => {
      const element = this.made(key);
      if (next && next.parentNode !== this.feed) next = element; // it was made again in its place
      if (element !== next) this.feed.insertBefore(element, next);
      else next = element.nextSibling;
      element.setAttribute('aria-posinset', String(from + i + 1));
      element.setAttribute('aria-setsize', String(this.items.length));
    });
  }

  private made(key: string): HTMLElement {
    const version = this.source.version(key);
    const before = this.elements.get(key);
    if (before?.version === version) return before.element;
    const element = this.source.make(key);
    if (before) {
      const hadFocus = before.element === document.activeElement || before.element.contains(document.activeElement);
      before.element.replaceWith(element);
      if (hadFocus) element.focus({ preventScroll: true });
    }
    this.elements.set(key, { element, version });
    return element;
  }

  private measure([from, to]: [number, number]): boolean {
    return this.heights.measure(this.items.slice(from, to).map(({ key }): [string, number] => [key, this.element(key)?.getBoundingClientRect().height ?? 0]));
  }
}
