// The search in a transcript: where it found something, and marks in what is in the page.
import { textOf, type Row } from './model';

export interface Hit { part: number; row: number }

export class Finder {
  search = 0;
  text = '';
  hits: Hit[] = [];
  isDone = true;
  at = -1;

  /** Begins anew; '' is no search. */
  begin(text: string): void {
    this.search++;
    Object.assign(this, { text, hits: [], isDone: text === '', at: -1 });
  }

  /** Takes hits that are in order, and behind those before. */
  add(hits: readonly [number, number][]): void {
    for (const [part, row] of hits) this.hits.push({ part, row });
  }

  /** Adds the rows of the tail that have the text. */
  addRows(part: number, rows: readonly Row[]): void {
    this.add(rowsWith(rows, this.text).map((id) => [part, id]));
  }

  /** Goes to the next hit, or with -1 to the one before; round and round. */
  go(by: 1 | -1): Hit | undefined {
    if (this.hits.length === 0) return undefined;
    this.at = this.at < 0 ? (by > 0 ? 0 : this.hits.length - 1) : (this.at + by + this.hits.length) % this.hits.length;
    return this.hits[this.at];
  }
}

/** The ids of the rows that have a text, whatever the case. */
export function rowsWith(rows: readonly Row[], text: string): number[] {
  const wanted = text.toLowerCase();
  return wanted === '' ? [] : rows.filter((row) => textOf(row).toLowerCase().includes(wanted)).map((row) => row.id);
}
