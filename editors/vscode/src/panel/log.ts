// A loop's log as a page gets it: parts that can be read by themselves, and the tail behind them, which grows.
import type { Sidecar } from '../sidecar';
import { command, type Iteration, type ReadResult, type Update, type UpdateParams } from '../wire';
import type { PartInfo } from './messages';

/** The parts of a log. Each goes from its cursor to the next one's, the last to the end. */
interface Outline { parts: (PartInfo & { cursor: string })[]; iterations: Iteration[]; end: string }

export interface Listener {
  opened(parts: PartInfo[], iterations: Iteration[]): void;
  /** More of the tail; live: it just happened. */
  tail(updates: Update[], live: boolean, complete: boolean): void;
  failed(reason: string): void;
}

export class Log {
  private outline: Outline = { parts: [], iterations: [], end: '' };
  /** Up to where the listener has it; undefined: it listens to nothing. */
  private cursor: string | undefined;
  private reading: Promise<void> | undefined;
  private again = false;

  constructor(private readonly sidecar: Sidecar, private readonly loopId: string, private readonly listener: Listener) {}

  /** Tells all anew. */
  async open(): Promise<void> {
    await this.reading; // what comes of it is of before
    this.outline = { parts: [], iterations: [], end: '' };
    this.cursor = this.outline.end;
    this.listener.opened(this.outline.parts, this.outline.iterations);
    await this.read();
  }

  /** Nobody listens any more. */
  close(): void {
    this.cursor = undefined;
  }

  /** Takes what comes while it happens. */
  take(p: UpdateParams): void {
    if (p.loopId !== this.loopId || this.cursor === undefined) return;
    if (p.after !== this.cursor || this.reading) return void this.read();
    this.cursor = p.cursor ?? '';
    this.listener.tail(p.updates, true, false);
  }

  /** Reads a part; undefined: there is none of that number. */
  async part(index: number): Promise<Update[] | undefined> {
    const part = this.outline.parts[index];
    if (!part) return undefined;
    const before = this.outline.parts[index + 1]?.cursor ?? this.outline.end;
    const updates: Update[] = [];
    for (let after = part.cursor, more = true; more;) {
      const page: ReadResult = await this.sidecar.execute(command.read, { loopId: this.loopId, after, before });
      updates.push(...page.updates);
      [after, more] = [page.cursor, page.more && page.cursor !== after];
    }
    return updates;
  }

  get partCount(): number {
    return this.outline.parts.length;
  }

  iterationAt(index: number): number {
    return this.outline.parts[index]?.iteration ?? 0;
  }

  /** Reads what is behind the cursor. */
  read(): Promise<void> {
    this.again = true;
    this.reading ??= this.readAll().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readAll(): Promise<void> {
    try {
      while (this.again && this.cursor !== undefined) {
        this.again = false;
        const page: ReadResult = await this.sidecar.execute(command.read, { loopId: this.loopId, after: this.cursor });
        if (this.cursor === undefined) return;
        if (page.reset) this.listener.opened([], []);
        this.cursor = page.cursor;
        this.listener.tail(page.updates, false, page.complete === true);
        this.again ||= page.more;
      }
    } catch (e) {
      this.listener.failed(e instanceof Error ? e.message : String(e));
    }
  }
}
