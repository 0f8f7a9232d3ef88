// The search in a part that isn't in the page: its rows are made as the page makes them.
import type { Update } from '../src/wire';
import { rowsWith } from './finder';
import { Part } from './model';

/** The ids of a part's rows that have a text. */
export function partRows(iteration: number, updates: readonly Update[], text: string, thinking: boolean): number[] {
  const part = new Part(iteration, new Map());
  part.add(updates);
  return rowsWith(part.rows.filter((row) => thinking || row.kind !== 'text' || row.by !== 'thought'), text);
}
