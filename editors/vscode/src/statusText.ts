// What the status bar shows, apart from how it is put there.
import { canOf, doing } from './can';
import { t } from './l10n';
import type { LoopRecord } from './loopRecord';
import { escaped, facts, iconless, iconOf, short, since, table } from './show';
import type { Class, LoopParams, LoopStatus } from './wire';

/** How the sidecar is. */
export type Server =
  | { state: 'starting' | 'running' | 'stopped'; /** What it runs without. */ warning?: string }
  | { state: 'failed'; reason: string };

/** All that the status bar depends on. */
export interface Model {
  server: Server;
  loops: LoopStatus[];
  /** By loop id. */
  records: ReadonlyMap<string, LoopRecord>;
  /** The ends that the user has seen (endOf). */
  seen: ReadonlySet<string>;
}

/** Names a loop's end. It may go on and end again before a status tells that it did. */
export const endOf = (l: LoopStatus): string => `${l.loopId} ${l.endedAt}`;

export interface Bar {
  /** With icons, as $(name). */
  text: string;
  class: Class;
  /** For a screen reader. */
  label: string;
  idle: boolean;
}

/** The status bar's item. */
export function bar(m: Model): Bar {
  if (m.server.state === 'failed') return { ...item('error', `Ralph ${t('server not running')}`, 'error'), label: `Ralph: ${m.server.reason}` };
  if (m.server.state === 'starting') return { ...item('loading~spin', `Ralph ${t('starting')}`), idle: true };
  const first = m.loops.find((l) => !m.seen.has(endOf(l))); // the server has them in the order of what needs the user most
  if (!first) return { ...item('circle-outline', `Ralph ${t('idle')}`), idle: true };
  const words = m.loops.length > 1 ? `Ralph ${short(first.title, 40)}: ${first.text}` : `Ralph ${first.text}`;
  return item(iconOf(first), words, first.class === 'ok' ? 'info' : first.class);
}

const item = (icon: string, words: string, kind: Class = 'info'): Bar => ({ text: `$(${icon}) ${iconless(words)}`, class: kind, label: words, idle: false });

/** Loops in the tooltip: those that need the user most. */
const maxLoops = 10;

/** The tooltip in markdown: a table per loop, and links to commands. now is in milliseconds. */
export function tooltip(m: Model, now: number): string {
  if (m.server.state === 'failed') {
    return `**Ralph** ${escaped(m.server.reason)}\n\n${links([['ralph.restartServer', t('Restart Server')], ['ralph.showLog', t('Show Log')]])}`;
  }
  if (m.loops.length === 0) return `**Ralph** ${t('no loop')}\n\n${links([['ralph.start', t('Start')], ['ralph.help', t('Help')]])}`;
  const shown = m.loops.slice(0, maxLoops).map((l) => `${loopTable(l, m, now)}\n\n${loopLinks(l)}`);
  if (m.loops.length > maxLoops) shown.push(t('... {0} more loops', m.loops.length - maxLoops));
  return shown.join('\n\n---\n\n');
}

function loopTable(l: LoopStatus, m: Model, now: number): string {
  const iterations = m.records.get(l.loopId ?? '')?.iterations ?? [];
  const rows: [string, string | undefined][] = [
    [t('Now'), l.line],
    [t('Elapsed'), l.live ? facts(since(l.startedAt, now), l.iterationStartedAt && t('this iteration {0}', since(l.iterationStartedAt, now)), l.tool?.startedAt && t('this tool {0}', since(l.tool.startedAt, now))) : ''],
    [t('Ended'), l.endedAt && new Date(l.endedAt).toLocaleString()],
    ...(l.details ?? []).map((d): [string, string] => [d.label, d.text]),
    ...iterations.filter((i) => i.text && !i.running).slice(-5).map((i): [string, string | undefined] => [t('Iteration {0}', i.number), i.text]),
  ];
  return `**Ralph** ${escaped(l.title)}\n\n${table(rows)}`;
}

function loopLinks(l: LoopStatus): string {
  const can = canOf(l).flatMap((c) => doing(c) ?? []).map((d): [string, string] => [d.command, d.title]);
  return links([...can, ['ralph.showOutput', t('Transcript')], ...(canOf(l).includes('review') ? [] : [['ralph.openChanges', t('Changes')] as [string, string]])], { loopId: l.loopId, folder: l.folder });
}

/** Links to commands, which get the loop that they are for. */
function links(all: [string, string][], loop?: LoopParams): string {
  const argument = loop ? `?${encodeURIComponent(JSON.stringify([loop])).replace(/[()]/g, (c) => (c === '(' ? '%28' : '%29'))}` : '';
  return all.map(([command, title]) => `[${title}](command:${command}${command === 'ralph.start' ? '' : argument})`).join(' | ');
}

/** The commands that the tooltip may run. */
export const tooltipCommands = [
  'ralph.start', 'ralph.cancel', 'ralph.pause', 'ralph.next', 'ralph.detach', 'ralph.answer', 'ralph.resume', 'ralph.steer', 'ralph.changeLimits', 'ralph.openStateFile', 'ralph.fetch', 'ralph.showOutput',
  'ralph.openChanges', 'ralph.undoChanges', 'ralph.startAgain', 'ralph.restartServer', 'ralph.showLog', 'ralph.help',
];
