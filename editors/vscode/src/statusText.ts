// What the status bar shows, apart from how it is put there.
import { count, dollars, duration, facts, ofMax, since } from './format';
import { t } from './l10n';
import { costText, ending, folderName, isBusy, isLeft, isLive, stateText } from './loopText';
import { factsOf, type Command } from './states';
import type { LoopParams, LoopStatus } from './wire';

/** How the sidecar is. */
export type Server =
  | { state: 'starting' | 'running' | 'stopped' }
  | { state: 'failed'; reason: string };

/** All that the status bar depends on. */
export interface Model {
  server: Server;
  loops: LoopStatus[];
  /** What each loop does right now, by loop id: the server's progress message. */
  activity: ReadonlyMap<string, string>;
  /** Loops that have said nothing for long, by loop id. */
  quiet: ReadonlySet<string>;
  /** Ended loops whose end the user has seen, by loop id. */
  seen: ReadonlySet<string>;
  /** Loops that will pause when their iteration has ended, by loop id. */
  pausing: ReadonlySet<string>;
  /** Cost of the finished iterations, by loop id. */
  iterationCosts: ReadonlyMap<string, IterationCost[]>;
}

export interface IterationCost { iteration: number; costUsd?: number; durationMs?: number }

export type Colour = 'none' | 'warning' | 'error';

export interface Bar {
  /** With icons, as $(name). */
  text: string;
  colour: Colour;
  /** For a screen reader. */
  label: string;
  idle: boolean;
}

/** From which part of a limit on the bar warns. */
const warnFrom = 0.8;

/** The status bar's item. now is in milliseconds. */
export function bar(m: Model, now: number): Bar {
  if (m.server.state === 'failed') return { ...item('$(error)', t('server not running'), 'error'), label: `Ralph: ${m.server.reason}` };
  if (m.server.state === 'starting') return { ...item('$(loading~spin)', t('starting')), idle: true };
  const live = m.loops.filter(isLive);
  if (live.length > 1) return item(icon(live), facts(t('{0} loops', live.length), sum(live)), worst(live, m, now));
  const one = live[0] ?? m.loops.find((l) => !m.seen.has(l.loopId ?? ''));
  if (!one) return { ...item('$(circle-outline)', t('idle')), idle: true };
  return item(icon([one]), oneText(one, m), worst([one], m, now));
}

function item(symbol: string, words: string, colour: Colour = 'none'): Bar {
  return { text: `${symbol} Ralph ${words.replaceAll(' · ', ' ')}`, colour, label: `Ralph ${words}`, idle: false };
}

function icon(loops: LoopStatus[]): string {
  const shown = loops.find(isBusy) ?? loops[0];
  return shown ? `$(${factsOf(shown).icon})` : '';
}

function oneText(l: LoopStatus, m: Model): string {
  const at = ofMax(Math.max(l.iteration ?? 1, 1), l.maxIterations);
  switch (l.state) {
    case 'running':
      return facts(at, costText(l), m.pausing.has(l.loopId ?? '') ? t('pausing') : '', m.quiet.has(l.loopId ?? '') ? t('quiet') : '');
    case 'interrupted': case 'failed': return l.text ?? facts(stateText(l), at);
    case 'ended': return facts(ending(l.stopReason), costText(l));
    default: return facts(at, costText(l), stateText(l));
  }
}

function sum(loops: LoopStatus[]): string {
  const known = loops.filter((l) => l.cost);
  if (known.length === 0) return '';
  return dollars(known.reduce((total, l) => total + (l.cost?.amount ?? 0), 0));
}

function worst(loops: LoopStatus[], m: Model, now: number): Colour {
  const colours = loops.map((l) => colour(l, m, now));
  return colours.includes('error') ? 'error' : colours.includes('warning') ? 'warning' : 'none';
}

function colour(l: LoopStatus, m: Model, now: number): Colour {
  const own = factsOf(l).colour;
  return own === 'none' && isLive(l) && (nearLimit(l, now) || m.quiet.has(l.loopId ?? '')) ? 'warning' : own;
}

/** Most of the iterations, of the money or of the time is used. */
function nearLimit(l: LoopStatus, now: number): boolean {
  const iterations = l.maxIterations && l.maxIterations > 1 ? ((l.iteration ?? 1) - 1) / l.maxIterations : 0;
  const cost = l.cost?.limit ? l.cost.amount / l.cost.limit : 0;
  const time = l.time?.limitMs ? timeSpent(l, now) / l.time.limitMs : 0;
  return iterations >= warnFrom || cost >= warnFrom || time >= warnFrom;
}

/** The milliseconds that a loop has run, without waits and pauses. */
function timeSpent(l: LoopStatus, now: number): number {
  const running = l.state === 'running' && l.iterationStartedAt ? now - Date.parse(l.iterationStartedAt) : 0;
  return (l.time?.spentMs ?? 0) + Math.max(0, running);
}

/** The tooltip in markdown: a table per loop, and links to commands. now is in milliseconds. */
export function tooltip(m: Model, now: number): string {
  if (m.server.state === 'failed') {
    return `**Ralph** ${escape(m.server.reason)}\n\n${links([['ralph.restartServer', t('Restart Server')], ['ralph.showLog', t('Show Log')]])}`;
  }
  const parts = m.loops.map((l) => `${loopTable(l, m, now)}\n\n${links(loopLinks(l, m), { loopId: l.loopId, folder: l.folder })}`);
  if (parts.length === 0) parts.push(`**Ralph** ${t('no loop')}\n\n${links([['ralph.start', t('Start')], ['ralph.help', t('Help')]])}`);
  return parts.join('\n\n---\n\n');
}

function loopTable(l: LoopStatus, m: Model, now: number): string {
  const id = l.loopId ?? '';
  const iterations = m.iterationCosts.get(id) ?? [];
  const rows: [string, string | undefined][] = [
    [t('State'), stateText(l) + (m.pausing.has(id) ? ` (${t('pauses after this iteration')})` : '') + (l.owned || isLeft(l) ? '' : ` (${t('another process')})`)],
    [t('Iteration'), l.iteration ? ofMax(l.iteration, l.maxIterations) : undefined],
    [t('Elapsed'), isLive(l) ? facts(since(l.startedAt, now), l.iterationStartedAt && t('this iteration {0}', since(l.iterationStartedAt, now))) : undefined],
    [t('Running'), isLive(l) && l.time?.limitMs ? t('{0} of {1}', duration(timeSpent(l, now)), duration(l.time.limitMs)) : undefined],
    [t('Agent'), facts(l.backend?.name, l.backend?.model)],
    [t('Cost'), l.cost ? costText(l) + (l.cost.limit ? t(' of {0}', dollars(l.cost.limit)) : '') : isLive(l) ? t('unknown') : undefined],
    [t('Per iteration'), iterations.slice(-5).map((i) => `${i.iteration}: ${i.costUsd === undefined ? '?' : dollars(i.costUsd)}`).join(', ')],
    [t('Tokens'), l.tokens && t('{0} in, {1} out, {2} cached', count(l.tokens.input), count(l.tokens.output), count(l.tokens.cacheRead))],
    [t('Context'), l.context && (l.context.size ? `${count(l.context.used)} / ${count(l.context.size)}` : count(l.context.used))],
    [t('Tool'), l.tool && facts(`${l.tool.name} ${l.tool.title === l.tool.name ? '' : l.tool.title}`.trim(), since(l.tool.startedAt, now))],
    [t('Now'), isBusy(l) && !l.tool ? m.activity.get(id) : undefined],
    [t('Quota'), l.quota?.map((q) => `${q.window.replaceAll('_', ' ')} ${Math.round((q.utilization ?? 0) * 100)} %`).join(', ')],
    [t('Ended'), isLeft(l) ? l.endedAt && new Date(l.endedAt).toLocaleString() : undefined],
    [t('Error'), l.error],
  ];
  const shown = rows.filter((r): r is [string, string] => Boolean(r[1]));
  return [`**Ralph** ${escape(folderName(l.folder))}`, '', '| | |', '|:--|:--|', ...shown.map(([k, v]) => `| ${k} | ${escape(v)} |`)].join('\n');
}

function loopLinks(l: LoopStatus, m: Model): [string, string][] {
  const output: [string, string][] = [['ralph.showOutput', t('Transcript')], ['ralph.showChangedFiles', t('Changed Files')]];
  const pausing = m.pausing.has(l.loopId ?? '');
  const titles: Record<Command, [string, string]> = {
    cancel: ['ralph.cancel', t('Cancel')], discard: ['ralph.cancel', t('Discard')], resume: ['ralph.resume', t('Resume')],
    pause: pausing ? ['ralph.resume', t('Resume')] : ['ralph.pause', t('Pause')], steer: ['ralph.steer', t('Steer')], start: ['ralph.start', t('Start')],
  };
  return [...factsOf(l).commands.map((c) => titles[c]), ...output];
}

/** Links to commands, which get the loop that they are for. */
function links(all: [string, string][], loop?: LoopParams): string {
  const argument = loop ? `?${encodeURIComponent(JSON.stringify([loop])).replace(/[()]/g, (c) => (c === '(' ? '%28' : '%29'))}` : '';
  return all.map(([command, title]) => `[${title}](command:${command}${command === 'ralph.start' ? '' : argument})`).join(' | ');
}

/** The text as it is, in a table's cell. */
function escape(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#+!|~-]/g, '\\$&').replace(/\s*\n\s*/g, ' ').slice(0, 400);
}

/** The commands that the tooltip may run. */
export const tooltipCommands = [
  'ralph.start', 'ralph.cancel', 'ralph.pause', 'ralph.resume', 'ralph.steer', 'ralph.showOutput',
  'ralph.showChangedFiles', 'ralph.restartServer', 'ralph.showLog', 'ralph.help',
];
