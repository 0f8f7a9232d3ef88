// What a user says about lines of a change, as the agent reads it.
import { compare } from '../webview/diff';
import { block } from './show';

/** A remark on lines (from 1) of a file as it was at a moment. before: what the lines are compared with, where that is known. */
export interface Remark { path: string; from: number; to: number; when: string; text: string; before?: string; after: string }

/** Lines of a change that an agent is shown around a remark, at most. */
const most = 40;

/** All remarks as one piece of guidance, in the order of the files' lines. */
export function guidanceOf(remarks: Remark[], title: string): string {
  const sorted = [...remarks].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.from - b.from));
  return [title, ...sorted.map(remarkOf)].join('\n\n');
}

function remarkOf({ path, from, to, when, text, before, after }: Remark): string {
  const place = `${path}:${from}${to > from ? `-${to}` : ''}`;
  return `${place} (${when})\n${block(linesOf(before, after, from, to), 'diff')}\n${text.trim()}`;
}

/** The lines from one to another of a text, with what they replace. */
function linesOf(before: string | undefined, after: string, from: number, to: number): string {
  const split = (text: string): string[] => text.replace(/\n$/, '').split('\n');
  const shown: string[] = [];
  let at = 0; // lines of after so far
  for (const { sign, text } of compare(before === undefined ? split(after) : split(before), split(after))) {
    if (sign !== '-') at++;
    const line = sign === '-' ? at + 1 : at; // what is gone stood before the next
    if (line >= from && line <= to) shown.push(`${sign}${text}`);
  }
  return shown.length > most ? [...shown.slice(0, most), '...'].join('\n') : shown.join('\n');
}
