// All that the page has of a loop's log: the parts that can be read again by themselves, some of which are here, and the tail.
import type { PartInfo, Place } from '../src/panel/messages';
import type { Iteration, Update } from '../src/wire';
import type { Item } from './heights';
import { Part, type HeaderRow, type Iterations, type Row, type ToolRow } from './model';

/** Characters of the parts that are here; those farthest from the view go first. */
const maxSize = 8 << 20;

export class Store {
  readonly iterations: Iterations = new Map();
  private readonly here = new Map<number, Part>();
  private readonly tail: Part;
  private isComplete = false;

  constructor(private readonly parts: readonly PartInfo[] = [], iterations: readonly Iteration[] = [], private readonly showsThinking = true) {
    for (const i of iterations) this.iterations.set(i.iteration, i);
    this.tail = new Part(parts.at(-1)?.iteration ?? 0, this.iterations);
  }

  get isEmpty(): boolean {
    return this.parts.length === 0 && this.tail.rows.length === 0;
  }

  /** Takes a part that was read. near: the part that the user looks at. */
  take(index: number, updates: readonly Update[], near: number): void {
    const info = this.parts[index];
    if (!info) return;
    const part = new Part(info.iteration, new Map());
    part.add(updates);
    if (index < this.parts.length - 1 || this.isComplete) part.close();
    if (index < this.parts.length - 1 || this.tail.rows.some((row) => row.kind === 'iteration')) part.decided();
    this.here.set(index, part);
    this.here.get(index - 1)?.join(part);
    const next = this.part(index + 1);
    if (next) part.join(next);
    this.evict(near);
  }

  add(updates: readonly Update[], now?: number): void {
    if (updates.some((u) => u.sessionUpdate === '_ralph/iteration' && u.phase === 'begin')) { // it goes on
      this.isComplete = false;
      this.here.get(this.parts.length - 1)?.decided();
    }
    this.tail.add(updates, now);
    this.here.get(this.parts.length - 1)?.join(this.tail);
  }

  /** The loop is over: what runs has no end that is known. */
  close(): void {
    this.isComplete = true;
    this.tail.close();
    this.here.get(this.parts.length - 1)?.close();
  }

  isHere(index: number): boolean {
    return index === this.parts.length || this.here.has(index);
  }

  /** What is below an agent that isn't open is left out. */
  items(isOpen: (key: string, row: Row) => boolean = () => true): Item[] {
    const items: Item[] = [];
    for (let index = 0; index <= this.parts.length; index++) {
      const part = this.part(index);
      const closed = new Set<string>();
      if (!part) items.push({ key: `${index}`, guess: Math.min(4000, Math.max(200, (this.parts[index]?.bytes ?? 0) / 60)) });
      else for (const row of part.rows) {
        if (row.kind === 'iteration') closed.clear(); // the ids of its calls are others
        if (!this.isShown(row) || row.above?.some((call) => closed.has(call))) continue;
        const key = `${index}:${row.id}`;
        if (row.kind === 'tool' && row.isAgent && !isOpen(key, row)) closed.add(row.callId);
        items.push({ key, guess: guess(row) });
      }
    }
    return items;
  }

  row(key: string): Row | undefined {
    const [index, id] = key.split(':').map(Number);
    return id === undefined ? undefined : this.part(index!)?.rows.find((row) => row.id === id);
  }

  /** The keys of the agents that a row is below. */
  above(key: string): string[] {
    const [index, id] = key.split(':').map(Number);
    const rows = this.part(index!)?.rows ?? [];
    const at = rows.findIndex((row) => row.id === id);
    return (rows[at]?.above ?? []).flatMap((call) => {
      const found = rows.findLast((row, i) => i < at && row.kind === 'tool' && row.callId === call);
      return found ? [`${index}:${found.id}`] : [];
    });
  }

  /** The iteration that an item is in. */
  iterationOf(key: string): number {
    const [index, id] = key.split(':').map(Number);
    let iteration = this.parts[index!]?.iteration ?? this.parts.at(-1)?.iteration ?? 0;
    if (id === undefined) return iteration;
    for (const row of this.part(index!)?.rows ?? []) {
      if (row.kind === 'iteration') iteration = row.iteration;
      if (row.id === id) break;
    }
    return iteration;
  }

  /** Where a place is; read: a part that has to be here to know that. */
  find({ iteration, toolCallId }: Place): { key: string; row: Row } | { read: number } | undefined {
    let found: { key: string; row: Row } | undefined;
    for (let index = 0; index <= this.parts.length; index++) {
      const isTail = index === this.parts.length;
      if (!isTail && this.parts[index]?.iteration !== iteration) continue;
      const part = this.part(index);
      if (!part) {
        if (!found || toolCallId) return { read: index };
        continue;
      }
      for (const row of part.rows) {
        const isIt = toolCallId ? row.kind === 'tool' && row.callId === toolCallId && row.iteration === iteration : iteration === 0 ? !found : row.kind === 'iteration' && row.iteration === iteration; // 0: before the first, the prompt
        if (isIt) found = { key: `${index}:${row.id}`, row };
      }
    }
    return found;
  }

  /** What came of an iteration; 'cut': it was interrupted, and nobody told of an end; undefined: it runs. */
  endOf({ iteration, ended, isCut }: HeaderRow): Iteration | 'cut' | undefined {
    if (ended || isCut) return ended ?? 'cut';
    const known = this.iterations.get(iteration);
    if (known?.phase === 'end') return known;
    return this.isComplete || Math.max(0, ...this.iterations.keys()) > iteration ? 'cut' : undefined;
  }

  /** The numbers of all iterations, in order. */
  numbers(): number[] {
    return [...this.iterations.keys()].sort((a, b) => a - b);
  }

  /** The rows of the tail, which nobody else searches. */
  tailRows(): Row[] {
    return this.tail.rows.filter((row) => this.isShown(row));
  }

  get tailIndex(): number {
    return this.parts.length;
  }

  /** The tools that run, and the keys of their rows. */
  running(): [string, ToolRow][] {
    return [this.parts.length - 1, this.parts.length].flatMap((index) => (this.part(index)?.rows ?? [])
      .flatMap((row): [string, ToolRow][] => (row.kind === 'tool' && row.status === 'in_progress' ? [[`${index}:${row.id}`, row]] : [])));
  }

  private part(index: number): Part | undefined {
    return index === this.parts.length ? this.tail : this.here.get(index);
  }

  private isShown(row: Row): boolean {
    if (row.kind === 'tool' && row.isResult === 'joined') return false;
    return this.showsThinking || row.kind !== 'text' || row.by !== 'thought';
  }

  private evict(near: number): void {
    let size = 0;
    for (const part of this.here.values()) size += part.size;
    const farthest = [...this.here.keys()].sort((a, b) => Math.abs(b - near) - Math.abs(a - near));
    for (const index of farthest) {
      if (size <= maxSize || Math.abs(index - near) <= 1) return;
      size -= this.here.get(index)!.size;
      this.here.delete(index);
    }
  }
}

function guess(row: Row): number {
  switch (row.kind) {
    case 'iteration': return 52;
    case 'text': return row.by === 'thought' || row.by === 'subagent' ? 26 : 24 + 20 * Math.ceil(row.text.length / 90);
    default: return 26;
  }
}
