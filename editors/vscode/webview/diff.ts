// What a tool that edits was asked to change, as lines.
import { plain } from './plain';

export interface DiffLine { sign: ' ' | '+' | '-'; text: string }

/** More lines are not compared with each other: all old ones go, all new ones come. */
const maxCompared = 400;
const maxLines = 1000;

/** The changes in a tool's input, as the agents name them; empty: it is no edit. */
export function diffOf(input: unknown): DiffLine[] {
  if (!isObject(input)) return [];
  const edits = Array.isArray(input.edits) ? input.edits.filter(isObject) : [input];
  const lines = edits.flatMap((edit) => {
    const [before, after] = [first(edit, 'oldText', 'old_string', 'old_str'), first(edit, 'newText', 'new_string', 'new_str')];
    if (before !== undefined || after !== undefined) return compare(linesOf(before ?? ''), linesOf(after ?? ''));
    const patch = first(edit, 'patch', 'diff', 'input');
    if (patch?.startsWith('*** Begin Patch') || patch?.startsWith('--- ') || patch?.startsWith('diff ')) return linesOf(patch).map(patchLine);
    const content = first(edit, 'content', 'file_text');
    return content === undefined ? [] : linesOf(content).map((text): DiffLine => ({ sign: '+', text }));
  });
  return lines.slice(0, maxLines);
}

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);

const first = (o: Record<string, unknown>, ...keys: string[]): string | undefined => keys.map((k) => o[k]).find((v) => typeof v === 'string');

const linesOf = (text: string): string[] => (text === '' ? [] : plain(text).replace(/\n$/, '').split('\n'));

const patchLine = (line: string): DiffLine => {
  const sign = line[0] === '+' || line[0] === '-' ? line[0] : ' ';
  return { sign, text: sign === ' ' ? line.replace(/^ /, '') : line.slice(1) };
};

/** The lines of a text that begins as a diff; empty: it is none. */
export function unified(text: string): DiffLine[] {
  if (!/^(--- .*\n)?\+\+\+ /.test(text)) return [];
  return linesOf(text).slice(0, maxLines).map((line, i) => (i < 2 && /^(---|\+\+\+) /.test(line) ? { sign: ' ', text: line } : patchLine(line)));
}

/** The lines of both, by their longest common part. */
export function compare(before: string[], after: string[]): DiffLine[] {
  const gone = (text: string): DiffLine => ({ sign: '-', text });
  const come = (text: string): DiffLine => ({ sign: '+', text });
  if (before.length > maxCompared || after.length > maxCompared) return [...before.map(gone), ...after.map(come)];
  const width = after.length + 1;
  const common = new Uint16Array((before.length + 1) * width); // of what is behind a pair of lines
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * width + j] = before[i] === after[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length;) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ sign: ' ', text: before[i]! });
      [i, j] = [i + 1, j + 1];
    } else if (i < before.length && (j === after.length || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) lines.push(gone(before[i++]!));
    else lines.push(come(after[j++]!));
  }
  return lines;
}
