// The transcript of a loop as markdown, made of the rows that its page shows.
import type { Iterations, Row, ToolRow } from '../webview/model';
import { t } from './l10n';
import { block, code } from './show';

/** Characters of a transcript that are shown; older ones go first. Each refresh costs the editor time for all of them. */
export const maxLength = 192 * 1024;
/** Lines of a tool's output that are shown. */
const maxOutputLines = 20;
const maxOutputChars = 4000;

/** The rows as markdown, the end of them where they are too long. iterations: what was told last of each. */
export function markdown(rows: readonly Row[], iterations: Iterations, thinking: boolean): string {
  const shown: string[] = [];
  let left = maxLength;
  for (let i = rows.length - 1; i >= 0 && left > 0; i--) {
    const [row, next] = [rows[i]!, rows[i + 1]];
    const text = textOf(row, iterations, thinking);
    if (!text) continue;
    const goesOn = row.kind === 'text' && next?.kind === 'text' && row.message === next.message;
    shown.push(goesOn ? text : `${text}\n\n`);
    left -= text.length;
  }
  if (left <= 0) shown.push(`*${t('... the beginning is not kept ...')}*\n\n`);
  return shown.reverse().join('');
}

/** '' for what isn't shown, such as what a subagent says. */
function textOf(row: Row, iterations: Iterations, thinking: boolean): string {
  switch (row.kind) {
    case 'iteration': {
      const end = row.ended ?? iterations.get(row.iteration);
      return `## ${capital(row.text)}${end?.phase === 'end' && !row.isCut ? `\n\n*${end.text}*` : ''}`;
    }
    case 'text':
      if (row.by === 'user') return quote(row.text);
      if (row.by === 'thought') return thinking ? `*${t('Thinking')}:* ${row.text}` : '';
      return row.by === 'subagent' || row.above ? '' : row.text;
    case 'tool': return row.isResult === 'joined' ? '' : toolOf(row);
    case 'said': {
      const more = row.more ? `\n\n${block(shorten(row.more))}` : '';
      if (row.about === 'end') return `---\n\n**${plain(row.text)}**${more}`;
      return quote(`${row.class === 'warning' || row.class === 'error' ? '⚠ ' : ''}${plain(row.text)}`) + more;
    }
  }
}

function toolOf(row: ToolRow): string {
  const call = row.isResult ? '' : `${row.above ? '> ' : ''}**${row.name}**${row.title === row.name ? '' : ` ${code(row.title)}`}`;
  const failed = row.status === 'failed' ? `✗ ${t('failed')}` : '';
  const output = row.output.trim() ? block(shorten(row.output), 'text') : '';
  return [call, failed, output].filter(Boolean).join('\n\n');
}

const quote = (text: string): string => `> ${text.replaceAll('\n', '\n> ')}`;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A line of plain words: what would be markup in it is code. */
const plain = (text: string): string => text.replace(/<promise>.*?<\/promise>/g, code);

/** The first and the last lines of a long output. */
function shorten(output: string): string {
  const lines = output.slice(-maxOutputChars * 4).trimEnd().split('\n');
  const left = lines.length <= maxOutputLines ? lines
    : [...lines.slice(0, maxOutputLines / 2), t('... {0} lines ...', lines.length - maxOutputLines), ...lines.slice(-maxOutputLines / 2)];
  const text = left.join('\n');
  return text.length <= maxOutputChars ? text : `${text.slice(0, maxOutputChars)}…`;
}
