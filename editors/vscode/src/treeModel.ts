// The tree of loops, apart from how it is shown.
import { dollars, duration, facts, ofMax } from './format';
import { t } from './l10n';
import type { IterationRecord, LoopRecord, ToolRecord } from './loopRecord';
import { costText, ending, folderName, isFailure, isLive, iterationsText, stateText } from './loopText';
import { factsOf } from './states';
import type { LoopStatus, PastLoop } from './wire';

export interface Node {
  id: string;
  label: string;
  description?: string;
  icon: string;
  /** Colour of the icon, as a theme colour's id. */
  colour?: string;
  /** Matched by the menus of package.json. */
  context?: string;
  tooltip?: string;
  /** Absent: nothing below. */
  children?: () => Node[];
  expanded?: boolean;
  /** The loop that a menu's command is for. */
  loop?: { loopId?: string; folder?: string };
  /** A click shows what this loop changed in the file, in this iteration. */
  file?: { loopId: string; path: string; iteration?: number };
  /** A click shows this loop's transcript. */
  transcript?: string;
}

export interface TreeInput {
  loops: LoopStatus[];
  records: ReadonlyMap<string, LoopRecord>;
  past: PastLoop[];
  /** Loops that will pause when their iteration has ended, by loop id. */
  pausing: ReadonlySet<string>;
}

const green = 'testing.iconPassed';
const red = 'testing.iconFailed';
const yellow = 'list.warningForeground';

export function roots(input: TreeInput): Node[] {
  const shown = new Set(input.loops.map((l) => l.loopId));
  const nodes = input.loops.map((l) => loopNode(l, input.records.get(l.loopId ?? ''), input.pausing.has(l.loopId ?? '')));
  const past = input.past.filter((p) => !shown.has(p.loopId));
  if (past.length > 0) {
    nodes.push({ id: 'past', label: t('Past loops'), description: String(past.length), icon: 'history', children: () => past.map((p) => pastNode(p, input.records.get(p.loopId))) });
  }
  return nodes;
}

function loopNode(l: LoopStatus, record: LoopRecord | undefined, pausing: boolean): Node {
  const { icon, colour } = loopIcon(l);
  return {
    id: `loop/${l.loopId ?? l.folder}`,
    label: folderName(l.folder),
    description: facts(l.iteration ? ofMax(l.iteration, l.maxIterations) : '', costText(l), pausing ? t('pausing') : stateText(l), l.backend?.name),
    icon, colour,
    context: `ralph.loop.${pausing && isLive(l) ? 'pausing' : factsOf(l).context}`,
    tooltip: l.error,
    loop: { loopId: l.loopId, folder: l.folder },
    expanded: true,
    // From the start: a row that could not be expanded at first stays closed.
    children: () => (record ? iterationNodes(record) : []),
  };
}

function pastNode(p: PastLoop, record: LoopRecord | undefined): Node {
  const failed = isFailure(p.stopReason);
  return {
    id: `past/${p.loopId}`,
    label: p.title ?? p.loopId,
    description: facts(new Date(p.startedAt).toLocaleString(), ending(p.stopReason), iterationsText(p.iterations), p.costUsd === undefined ? '' : dollars(p.costUsd), duration(p.durationMs), p.backend),
    icon: p.stopReason === 'promise' ? 'check' : failed ? 'error' : 'circle-slash',
    colour: p.stopReason === 'promise' ? green : failed ? red : undefined,
    context: 'ralph.loop.past',
    tooltip: p.error,
    loop: { loopId: p.loopId, folder: p.folder },
    transcript: p.loopId,
    children: record ? () => iterationNodes(record) : undefined,
  };
}

const colours = { none: undefined, warning: yellow, error: red };

function loopIcon(l: LoopStatus): { icon: string; colour?: string } {
  const { icon, colour } = factsOf(l);
  return { icon, colour: l.stopReason === 'promise' ? green : colours[colour] };
}

/** The newest first. */
function iterationNodes(record: LoopRecord): Node[] {
  return [...record.iterations].reverse().map((it, index) => ({
    id: `loop/${record.loopId}/${it.number}`,
    label: t('Iteration {0}', it.number),
    description: facts(it.outcome ?? (it.running ? t('running') : ''), it.costUsd === undefined ? '' : dollars(it.costUsd), it.durationMs === undefined ? '' : duration(it.durationMs)),
    ...iterationIcon(it),
    tooltip: it.error,
    expanded: index === 0,
    context: 'ralph.iteration',
    children: () => [...fileNodes(record, it), ...toolNodes(record, it)],
  }));
}

function iterationIcon(it: IterationRecord): { icon: string; colour?: string } {
  if (it.running) return { icon: 'loading~spin' };
  switch (it.outcome) {
    case 'ok': return { icon: 'pass', colour: green };
    case 'cancelled': return { icon: 'circle-slash' };
    default: return { icon: 'error', colour: red };
  }
}

function fileNodes(record: LoopRecord, it: IterationRecord): Node[] {
  return record.files(it.number).map((path) => ({
    id: `loop/${record.loopId}/${it.number}/file/${path}`,
    label: path.slice(path.lastIndexOf('/') + 1),
    description: path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : undefined,
    icon: 'diff',
    context: 'ralph.file',
    file: { loopId: record.loopId, path, iteration: it.number },
  }));
}

const toolIcons: Record<string, string> = {
  read: 'file', edit: 'edit', delete: 'trash', move: 'arrow-right', search: 'search', execute: 'terminal',
  think: 'lightbulb', fetch: 'globe', other: 'tools',
};

function toolNodes(record: LoopRecord, it: IterationRecord): Node[] {
  const nodes = it.tools.map((tool, n) => toolNode(tool, `loop/${record.loopId}/${it.number}/tool/${it.forgotten + n}`));
  if (it.forgotten > 0) nodes.unshift({ id: `loop/${record.loopId}/${it.number}/more`, label: t('... {0} earlier calls', it.forgotten), icon: 'ellipsis' });
  return nodes;
}

function toolNode(tool: ToolRecord, id: string): Node {
  return {
    id,
    label: tool.title,
    description: tool.title === tool.name ? undefined : tool.name,
    icon: tool.status === 'in_progress' ? 'loading~spin' : toolIcons[tool.kind] ?? 'tools',
    colour: tool.status === 'failed' ? red : undefined,
    context: 'ralph.tool',
    tooltip: tool.status === 'failed' ? t('failed') : undefined,
  };
}
