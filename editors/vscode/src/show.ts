// How things are shown that the server tells in words: by icons and colours, and with a clock.
import type { ChangedFile, Class, LoopStatus, Notice, Update } from './wire';

export const icons: Record<Class, string> = { info: 'circle-slash', ok: 'check', warning: 'warning', error: 'error' };

/** Theme colours. */
export const colours: Record<Class, string | undefined> = {
  info: undefined, ok: 'testing.iconPassed', warning: 'list.warningForeground', error: 'testing.iconFailed',
};

/** What became of a file, as icon and colour. */
export const changeIcons: Record<ChangedFile['status'], string> = {
  added: 'diff-added', modified: 'diff-modified', deleted: 'diff-removed', renamed: 'diff-renamed', mode: 'gear',
};
export const changeColours: Record<ChangedFile['status'], string> = {
  added: 'editorGutter.addedBackground', modified: 'editorGutter.modifiedBackground', deleted: 'editorGutter.deletedBackground',
  renamed: 'editorGutter.modifiedBackground', mode: 'editorGutter.modifiedBackground',
};

/** The icon of a loop, without $( and ). */
export function iconOf(l: LoopStatus): string {
  if (l.questions) return 'question';
  if (l.busy) return 'sync~spin';
  if (l.live) return l.retry ? 'watch' : 'debug-pause';
  return icons[l.class];
}

/** Writes milliseconds as the server writes them: 0.3s, 45s, 2m05s, 1h02m. */
export function elapsed(ms: number): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const tenths = Math.floor(Math.max(0, ms) / 100);
  if (tenths < 100) return `${tenths / 10}s`;
  const seconds = Math.floor(tenths / 10);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds}s`;
  return minutes < 60 ? `${minutes}m${two(seconds % 60)}s` : `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
}

/** The full seconds since an RFC 3339 time, '' when it isn't known. */
export function since(start: string | undefined, now: number): string {
  return start ? elapsed(Math.floor((now - Date.parse(start)) / 1000) * 1000) : '';
}

/** The text as it is, in a line of markdown. */
export const escaped = (text: string): string => text.replace(/[\\`*_{}[\]<>()#+!|~-]/g, '\\$&').replace(/\s*\n\s*/g, ' ').slice(0, 400);

/** A table in markdown of the rows that have something in them. */
export function table(rows: [string, string | undefined][]): string {
  return ['| | |', '|:--|:--|', ...rows.flatMap(([k, v]) => (v ? [`| ${escaped(k).replaceAll(' ', '\u00a0')} | ${escaped(v)} |`] : []))].join('\n');
}

/** The text in a notification, in which a link could be anybody's. */
export const linkable = (text: string): string => text.replaceAll('](', '] (');

/** The text in a label, where `$(date)` would be an icon. */
export const iconless = (text: string): string => text.replace(/\$\((?=[a-z0-9~-]+\))/gi, '\\$(');

/** More backticks in a row than the text has, and at least so many. */
const ticks = (text: string, least: number): string => '`'.repeat(Math.max(least, 1 + Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))));

/** The text in a block of markdown, which nothing in it ends. */
export function block(text: string, language = ''): string {
  const fence = ticks(text, 3);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** The text, cut where it is longer than its place. */
export const short = (text: string, length = 60): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

/** Joins the facts that there are. */
export const facts = (...all: (string | false | undefined)[]): string => all.filter(Boolean).join(' · ');

/** What an update tells wherever the user looks. An end has its own message. */
export const notified = (u: Update): Notice | undefined => ('notify' in u && u.notify && u.sessionUpdate !== '_ralph/end' ? u : undefined);
