// A loop's log as a page gets it: parts that can be read by themselves, and the tail behind them, which grows.
import type { Sidecar } from '../sidecar';
import type { Iteration, OutlineResult, ReadResult, Update, UpdateParams } from '../wire';
import type { PartInfo } from './messages';

export interface Listener {
  /** A new beginning: all of before is of no use. */
  opened(parts: PartInfo[], iterations: Iteration[]): void;
  /** More of the tail; live: it just happened. */
  tail(updates: Update[], live: boolean, complete: boolean): void;
  failed(reason: string): void;
}

/** Characters of text that the tail may grow by before the file has parts for it. */
const maxTail = 4 << 20;

export class Log {
  /** The last that was told of each iteration, by number. */
  readonly iterations = new Map<number, Iteration>();
  private outline: OutlineResult = { parts: [], iterations: [], cursor: '' };
  /** Up to where the listener has it; undefined: it listens to nothing. */
  private cursor: string | undefined;
  private reading: Promise<void> | undefined;
  private again = false;
  private opens = 0;
  private ahead: Promise<OutlineResult | undefined> | undefined;
  private grown = 0;

  constructor(private readonly sidecar: Pick<Sidecar, 'execute'>, private readonly loopId: string, private readonly listener: Listener) {}

  get partCount(): number {
    return this.outline.parts.length;
  }

  iterationAt(index: number): number {
    return this.outline.parts[index]?.iteration ?? 0;
  }

  /** Reads ahead what open tells first, for an open that comes soon: a page takes longer to be made. What is news by then is in the tail. */
  prepare(): void {
    this.ahead ??= this.readOutline().catch(() => undefined); // open asks again
  }

  /** Tells all anew: what the log consists of, and the tail. */
  async open(): Promise<void> {
    const turn = ++this.opens;
    this.cursor = undefined;
    const { ahead } = this;
    this.ahead = undefined;
    try {
      const outline = (await ahead) ?? (await this.readOutline());
      await this.reading; // what comes of it is of before
      if (turn !== this.opens) return;
      this.outline = outline;
      this.cursor = outline.cursor;
      this.grown = 0;
      this.iterations.clear();
      this.note(outline.iterations);
      this.listener.opened(outline.parts.map(({ iteration = 0, bytes }) => ({ iteration, bytes })), outline.iterations);
      await this.read();
    } catch (e) {
      this.listener.failed(e instanceof Error ? e.message : String(e));
    }
  }

  /** Nobody listens any more. */
  close(): void {
    this.opens++;
    this.cursor = undefined;
    this.ahead = undefined;
  }

  /** Takes what comes while it happens. */
  take(p: UpdateParams): void {
    if (p.loopId !== this.loopId || this.cursor === undefined) return;
    if (p.after !== this.cursor || this.reading) return void this.read();
    this.cursor = p.cursor ?? '';
    this.tell(p.updates, true, false);
    this.grown += p.updates.reduce((sum, u) => sum + ('content' in u ? JSON.stringify(u.content).length : 0), 0);
    if (this.grown > maxTail) void this.open();
  }

  /** Reads a part; undefined: there is none of that number. */
  async part(index: number): Promise<Update[] | undefined> {
    const { parts, cursor } = this.outline;
    const part = parts[index];
    if (!part) return undefined;
    const before = parts[index + 1]?.cursor ?? cursor;
    const updates: Update[] = [];
    for (let after = part.cursor, more = true; more;) {
      const page: ReadResult = await this.sidecar.execute('ralph.loop.read', { loopId: this.loopId, after, before });
      if (page.reset) { // the file is another
        void this.open();
        return undefined;
      }
      updates.push(...page.updates);
      [after, more] = [page.cursor, page.more];
    }
    return updates;
  }

  private readOutline(): Promise<OutlineResult> {
    return this.sidecar.execute<OutlineResult>('ralph.loop.outline', { loopId: this.loopId });
  }

  /** Reads what is behind the cursor, where somebody listens. */
  read(): Promise<void> {
    this.again = true;
    this.reading ??= this.readAll().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readAll(): Promise<void> {
    try {
      while (this.again && this.cursor !== undefined) {
        this.again = false;
        const [turn, after] = [this.opens, this.cursor];
        const page = await this.sidecar.execute<ReadResult>('ralph.loop.read', { loopId: this.loopId, after });
        if (turn !== this.opens) return;
        if (page.reset) return void this.open();
        this.cursor = page.cursor;
        this.tell(page.updates, false, page.complete);
        this.again ||= page.more;
      }
    } catch (e) {
      this.listener.failed(e instanceof Error ? e.message : String(e));
    }
  }

  private tell(updates: Update[], live: boolean, complete: boolean): void {
    this.note(updates);
    this.listener.tail(updates, live, complete);
  }

  private note(updates: readonly Update[]): void {
    for (const u of updates) if (u.sessionUpdate === '_ralph/iteration') this.iterations.set(u.iteration, u);
  }
}
