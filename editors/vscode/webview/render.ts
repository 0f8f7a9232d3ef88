// Rows as elements of the page.
import { elapsed, facts as joined } from '../src/show';
import type { Words } from '../src/panel/words';
import type { Iteration, Offer } from '../src/wire';
import { icons } from './icons';
import { diffOf, unified, type DiffLine } from './diff';
import { markdown, withPlaces } from './markdown';
import type { HeaderRow, Row, SaidRow, TextRow, ToolRow } from './model';

/** Lines of an output that are shown at its beginning and at its end; the rest is asked for. */
const shownLines = 100;

/** What rows depend on besides themselves. */
export interface Look {
  words: Words;
  endOf(row: HeaderRow): Iteration | 'cut' | undefined;
  /** Of the tool that runs, where the page didn't see it begin. */
  toolStartedAt?: number;
  /** Where the page finds the folder's files. */
  files?: string;
  offersOf(row: SaidRow): Offer[];
  isOpen(key: string): boolean;
  showsAll(key: string): boolean;
}

export const fill = (words: string, ...values: (string | number)[]): string => words.replace(/\{(\d)\}/g, (_, n) => String(values[Number(n)] ?? ''));

type Attributes = Record<string, string | undefined>;

/** An element. Attributes that are undefined are left out. */
export function h(tag: string, attributes: Attributes, ...children: (Node | string)[]): HTMLElement {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

/** The icon of a button, as what stands in it; nothing for a name that icons.ts hasn't. */
export function drawn(name: string): Element[] {
  const icon = icons[name];
  if (!icon) return [];
  const make = (tag: 'svg' | 'path') => document.createElementNS('http://www.w3.org/2000/svg', tag);
  const [svg, path] = [make('svg'), make('path')];
  for (const [key, value] of Object.entries({ viewBox: '0 0 16 16', class: icon.filled ? 'icon filled' : 'icon', 'aria-hidden': 'true' })) svg.setAttribute(key, value);
  path.setAttribute('d', icon.path);
  svg.append(path);
  return [svg];
}

/** What was escaped by markdown.ts, as elements. */
function html(tag: string, attributes: Attributes, text: string): HTMLElement {
  const e = h(tag, attributes);
  e.innerHTML = text;
  return e;
}

/** Whether a row has more to show when it is opened. */
export const folds = (row: Row): boolean => row.kind === 'tool' || (row.kind === 'text' && (row.by === 'thought' || row.by === 'subagent')) || (row.kind === 'said' && row.more !== undefined);

export function render(row: Row, key: string, look: Look): HTMLElement {
  const open = folds(row) ? look.isOpen(key) : undefined;
  const e = h('article', { class: `row ${row.kind}${row.above ? ' below' : ''}`, role: 'article', tabindex: '-1', 'data-key': key });
  if (row.above) e.style.setProperty('--depth', String(row.above.length));
  switch (row.kind) {
    case 'iteration': header(e, row, look); break;
    case 'text': text(e, row, look, open); break;
    case 'tool': tool(e, row, key, look, open === true); break;
    case 'said': said(e, row, look, open); break;
  }
  return e;
}

function header(e: HTMLElement, row: HeaderRow, { words, endOf }: Look): void {
  const end = endOf(row);
  const ended = end === 'cut' ? { text: words.interrupted, class: 'warning', changes: undefined } : end;
  const title = h('h2', {}, fill(words.iteration, row.iteration));
  const facts = h('span', { class: `facts ${ended && row.isRefuted ? 'warning' : ended?.class ?? ''}` }, ended ? joined(row.isRefuted && words.refuted, ended.text) : row.facts);
  e.append(title, facts);
  const { files = 0, added = 0, removed = 0 } = ended?.changes ?? {};
  if (files > 0) {
    const label = files === 1 ? words.oneFile : fill(words.files, files);
    e.append(h('button', { class: 'files', 'data-do': 'changes' }, `${label} `, h('ins', {}, `+${added}`), ' ', h('del', {}, `-${removed}`)));
  }
  e.setAttribute('aria-label', [title.textContent, facts.textContent].join(', '));
}

function foldButton(open: boolean, ...children: (Node | string)[]): HTMLElement {
  return h('button', { class: 'fold', 'data-do': 'fold', 'aria-expanded': String(open), tabindex: '-1' }, h('span', { class: 'chevron', 'aria-hidden': 'true' }), ...children);
}

function text(e: HTMLElement, row: TextRow, { words, files }: Look, open: boolean | undefined): void {
  const by = row.by && { thought: words.thinking, subagent: words.subagent, user: words.you }[row.by];
  if (row.by) e.classList.add(row.by);
  if (open !== undefined) e.append(foldButton(open, h('span', { class: 'by' }, by ?? ''), h('span', { class: 'title' }, open ? '' : firstLine(row.text))));
  else if (by) e.append(h('div', { class: 'by' }, by));
  if (open !== false) e.append(html('div', { class: 'markdown' }, markdown(row.text, files)));
  e.setAttribute('aria-label', [by, firstLine(row.text)].filter(Boolean).join(': '));
}

const firstLine = (s: string): string => s.trimStart().split('\n', 1)[0]!.slice(0, 200);

const marks = { in_progress: '', completed: '✓', failed: '✗', unknown: '–' };

function tool(e: HTMLElement, row: ToolRow, key: string, look: Look, open: boolean): void {
  const { words } = look;
  e.classList.add(row.status);
  if (row.isAgent) e.classList.add('agent');
  const name = row.isAgent ? row.title : row.name;
  const isRunning = row.status === 'in_progress';
  const status = isRunning ? words.running : words[row.status as 'completed' | 'failed' | 'unknown'];
  e.append(foldButton(open,
    h('span', { class: 'mark', 'aria-hidden': 'true' }, marks[row.status]),
    h('b', {}, name || words.output), h('span', { class: 'title' }, row.title === name ? '' : row.title), h('span', { class: 'time' }, isRunning ? timeOf(row, look) : row.facts ?? '')));
  e.setAttribute('aria-label', [name || words.output, row.title === name ? '' : row.title, status, row.facts].filter(Boolean).join(', '));
  if (open && (!row.hasMore || row.status === 'failed')) e.append(h('div', { class: 'body' }, ...input(row), ...output(row, look.showsAll(key), words)));
}

/** How long a tool has been running. */
export function timeOf(row: ToolRow, { toolStartedAt }: Look): string {
  const start = row.startedAt ?? toolStartedAt;
  return start === undefined ? '' : elapsed(Math.floor((Date.now() - start) / 1000) * 1000);
}

/** Where an edit is made and what it changes; else a command of several lines. */
function input(row: ToolRow): Node[] {
  const lines = diffOf(row.input);
  const nodes: Node[] = [];
  if (row.location) nodes.push(html('div', { class: 'path' }, withPlaces(`${row.location.path}:${row.location.line ?? 1}`)));
  const changes = diff(lines);
  if (changes) return [...nodes, changes];
  const command = (row.input as { command?: unknown } | undefined)?.command;
  if (typeof command === 'string' && command.includes('\n')) nodes.push(html('pre', { class: 'command' }, withPlaces(command)));
  return nodes;
}

function diff(lines: DiffLine[]): Node | undefined {
  if (lines.length === 0) return undefined;
  return h('pre', { class: 'diff' }, ...lines.map(({ sign, text: line }) => h(sign === '+' ? 'ins' : sign === '-' ? 'del' : 'span', {}, `${sign} ${line}\n`)));
}

function output(row: ToolRow, all: boolean, words: Words): Node[] {
  const lines = row.output.replace(/\n+$/, '').split('\n');
  if (row.output.trim() === '') return row.status === 'completed' && diffOf(row.input).length === 0 ? [h('div', { class: 'none' }, words.noOutput)] : [];
  const block = (some: string[]): Node => html('pre', { class: 'output' }, withPlaces(some.join('\n')));
  const left = lines.length - 2 * shownLines;
  const nodes = all || left <= shownLines ? [block(lines)] : [
    block(lines.slice(0, shownLines)), h('button', { class: 'more', 'data-do': 'more' }, fill(words.moreLines, left)), block(lines.slice(-shownLines)),
  ];
  if (row.omitted) nodes.push(h('button', { class: 'more', 'data-do': 'output' }, words.wholeOutput));
  return nodes;
}

/** A receipt, a row for each thing that it names; one without a label goes on with the row above. */
const table = (receipt: { label: string; text: string }[]): Node => h('table', { class: 'receipt' }, ...receipt.map(({ label, text }) => (
  h('tr', {}, h('th', { scope: 'row' }, label), html('td', {}, withPlaces(text))))));

function said(e: HTMLElement, row: SaidRow, look: Look, open: boolean | undefined): void {
  e.classList.add(row.class, row.about);
  const line = html('span', { class: 'words' }, withPlaces(row.text));
  e.append(open === undefined ? line : foldButton(open, line));
  const offers = look.offersOf(row).map((offer, n) => h('button', { class: 'offer', 'data-do': 'offer', 'data-n': String(n) }, offer.title));
  const whole = () => (row.receipt ? table(row.receipt) : diff(row.question ? unified(row.more ?? '') : []) ?? html('pre', { class: 'output' }, withPlaces(row.more ?? '')));
  const more = open ? [whole()] : [];
  const choices = offers.length > 0 ? [h('div', { class: 'offers' }, ...offers)] : [];
  if (row.question) e.append(...more, ...choices); // to be read before it is answered
  else e.append(...choices, ...more);
  e.setAttribute('aria-label', row.text);
}
