// The box below a transcript: what is typed there is told to the loop, goes on with it, or starts a new one. What
// comes of it, and in which words, the server says.
import type { PageButton } from '../src/can';
import type { Chip, FromPage, TalkWords } from '../src/panel/messages';
import type { Words } from '../src/panel/words';
import { drawn, h } from './render';

export interface Writing {
  post(m: FromPage): void;
  /** The user goes back to the transcript. */
  leave(): void;
  /** What is written is to be kept. */
  keep(text: string): void;
}

/** An @file that is being written, before the cursor. */
const mention = /(?:^|[\s([{"'`])@([^\s@]*)$/;

export class Composer {
  private readonly box: HTMLTextAreaElement;
  private readonly list: HTMLElement;
  private talks: TalkWords[] = [];
  private asked = 0;
  private paths: string[] = [];
  private at = 0;

  constructor(private readonly form: HTMLElement, private readonly on: Writing) {
    this.box = form.querySelector('textarea')!;
    this.list = form.querySelector('#mentions')!;
    this.box.addEventListener('input', () => this.changed());
    this.box.addEventListener('keydown', (e) => this.key(e));
    this.box.addEventListener('blur', () => this.offer([]));
    addEventListener('resize', () => this.grow()); // in another width the text has other lines
    this.list.addEventListener('mousedown', (e) => {
      e.preventDefault(); // the box keeps the focus
      const chosen = [...this.list.children].indexOf((e.target as HTMLElement).closest('[role=option]')!);
      if (chosen >= 0) this.take(chosen);
    });
    form.querySelector('#selection')!.addEventListener('click', () => on.post({ type: 'selection' }));
  }

  focus(): void {
    if (!this.form.hidden && !this.box.hidden) this.box.focus();
  }

  /** What was written before the page was made again. */
  restore(text: string): void {
    if (this.box.value) return;
    this.box.value = text;
    this.grow();
  }

  localise(words: Words): void {
    this.box.setAttribute('aria-label', words.compose);
    this.list.setAttribute('aria-label', words.mentions);
    const actions = this.form.querySelector<HTMLElement>('#actions')!;
    actions.setAttribute('role', 'group');
    actions.setAttribute('aria-label', words.actions);
    const selection = this.form.querySelector<HTMLElement>('#selection')!;
    selection.title = words.selection;
    selection.setAttribute('aria-label', words.selection);
  }

  /** What becomes of words now, and what can be done with the loop; without any way for words there is no box. */
  show(talks: TalkWords[], buttons: PageButton[]): void {
    this.form.hidden = talks.length + buttons.length === 0;
    this.act(buttons);
    if (JSON.stringify(talks) === JSON.stringify(this.talks)) return;
    this.talks = talks;
    const [first] = talks;
    for (const part of [this.box, this.form.querySelector<HTMLElement>('#selection')!]) part.hidden = !first;
    this.box.placeholder = first?.hint ?? '';
    const keys = ['Enter', 'Alt+Enter'];
    this.form.querySelector('#talks')!.replaceChildren(...talks.map(({ title, hint }, n) => {
      const button = h('button', { type: 'button', class: n === 0 ? 'first' : undefined, title: [hint, keys[n]].filter(Boolean).join(' · ') }, title);
      button.addEventListener('click', () => this.send(n));
      return button;
    }));
    this.changed();
  }

  /** The buttons of what can be done with the loop; one that stays keeps the focus. */
  private act(buttons: PageButton[]): void {
    const place = this.form.querySelector<HTMLElement>('#actions')!;
    const before = new Map([...place.children].map((e) => [(e as HTMLElement).dataset.key, e]));
    const wanted = buttons.map(({ command, icon, label, title }) => {
      const key = `${command} ${title}`;
      const there = before.get(key);
      if (there) return there;
      const button = h('button', { type: 'button', 'data-key': key, title, 'aria-label': title }, ...drawn(icon), h('span', { class: 'label' }, label));
      button.addEventListener('click', () => this.on.post({ type: 'act', command }));
      return button;
    });
    for (const old of [...place.children]) if (!wanted.includes(old)) old.remove();
    wanted.forEach((button, n) => button !== place.children[n] && place.insertBefore(button, place.children[n] ?? null));
  }

  /** What would run, or runs, each of which can be changed. */
  chips(chips: Chip[]): void {
    const place = this.form.querySelector<HTMLElement>('#chips')!;
    const focused = (document.activeElement as HTMLElement | null)?.dataset.chip;
    place.replaceChildren(...chips.map(({ label, text, title }) => {
      const button = h('button', { type: 'button', class: 'chip', 'data-chip': label, title, 'aria-label': title }, text);
      button.addEventListener('click', () => this.on.post({ type: 'chip', label }));
      return button;
    }));
    if (focused) place.querySelector<HTMLElement>(`[data-chip="${CSS.escape(focused)}"]`)?.focus();
  }

  /** The words have reached the loop; else they stay. */
  sent(text: string): void {
    if (this.box.value.trim() !== text) return;
    this.box.value = '';
    this.changed();
  }

  insert(text: string): void {
    const { selectionStart: from, selectionEnd: to } = this.box;
    this.box.setRangeText(text, from, to, 'end');
    this.box.focus();
    this.changed();
  }

  mentions(asked: number, paths: string[]): void {
    if (asked === this.asked) this.offer(paths);
  }

  private key(e: KeyboardEvent): void {
    if (e.isComposing) return; // Enter ends the word then
    if (!this.list.hidden && this.choose(e)) return e.preventDefault();
    if (e.key === 'Escape') {
      e.preventDefault();
      return this.on.leave();
    }
    if (e.key !== 'Enter' || e.shiftKey) return;
    e.preventDefault();
    this.send(e.altKey || e.ctrlKey || e.metaKey ? Math.min(1, this.talks.length - 1) : 0);
  }

  private send(n: number): void {
    const [text, talk] = [this.box.value.trim(), this.talks[n]];
    if (text && talk) this.on.post({ type: 'talk', title: talk.title, text });
    else this.box.focus();
  }

  private changed(): void {
    this.on.keep(this.box.value);
    this.grow();
    for (const button of this.form.querySelectorAll<HTMLButtonElement>('#talks button')) button.disabled = this.box.value.trim() === '';
    const text = mention.exec(this.box.value.slice(0, this.box.selectionStart))?.[1];
    this.asked++;
    if (text === undefined) this.offer([]);
    else this.on.post({ type: 'mention', id: this.asked, text });
  }

  /** As high as its text, up to a third of the page. */
  private grow(): void {
    this.box.style.height = 'auto';
    const height = this.box.value === '' ? 0 : Math.min(this.box.scrollHeight, innerHeight / 3);
    this.box.style.height = height ? `${height}px` : '';
  }

  private offer(paths: string[]): void {
    if (paths.length === 0 && this.paths.length === 0) return;
    this.paths = paths;
    this.list.hidden = paths.length === 0;
    this.list.replaceChildren(...paths.map((path, n) => h('div', { role: 'option', id: `mention${n}` }, path)));
    this.select(0);
  }

  private select(at: number): void {
    this.at = (at + this.paths.length) % Math.max(1, this.paths.length);
    [...this.list.children].forEach((option, n) => option.setAttribute('aria-selected', String(n === this.at)));
    this.box.setAttribute('aria-expanded', String(!this.list.hidden));
    if (this.list.hidden) this.box.removeAttribute('aria-activedescendant');
    else this.box.setAttribute('aria-activedescendant', `mention${this.at}`);
    this.list.children[this.at]?.scrollIntoView({ block: 'nearest' });
  }

  /** A key while files are offered; false: it isn't for them. */
  private choose(e: KeyboardEvent): boolean {
    switch (e.key) {
      case 'ArrowDown': this.select(this.at + 1); return true;
      case 'ArrowUp': this.select(this.at - 1); return true;
      case 'Enter': case 'Tab': this.take(this.at); return true;
      case 'Escape': this.offer([]); return true;
      default: return false;
    }
  }

  private take(n: number): void {
    const before = this.box.value.slice(0, this.box.selectionStart);
    const typed = mention.exec(before)?.[1] ?? '';
    const path = this.paths[n];
    if (path === undefined) return;
    this.box.setRangeText(path.endsWith('/') ? path : `${path} `, before.length - typed.length, before.length, 'end');
    this.changed();
  }
}
