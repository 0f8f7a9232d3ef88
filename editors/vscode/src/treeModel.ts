// The tree of loops, apart from how it is shown.
import { t } from './l10n';
import type { IterationRecord, LoopRecord, ToolRecord } from './loopRecord';
import { colours, facts, iconOf, icons } from './show';
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
}

export function roots(input: TreeInput): Node[] {
  const shown = new Set(input.loops.map((l) => l.loopId));
  const nodes = input.loops.map((l) => loopNode(l, input.records.get(l.loopId ?? '')));
  const past = input.past.filter((p) => !shown.has(p.loopId));
  if (past.length > 0) {
    nodes.push({ id: 'past', label: t('Past loops'), description: String(past.length), icon: 'history', children: () => past.map((p) => pastNode(p, input.records.get(p.loopId))) });
  }
  return nodes;
}

function loopNode(l: LoopStatus, record: LoopRecord | undefined): Node {
  return {
    id: `loop/${l.loopId ?? l.folder}`,
    label: l.title,
    description: facts(l.line, l.live ? '' : l.backend?.name),
    icon: iconOf(l),
    colour: colours[l.class],
    context: ['ralph.loop', ...l.can ?? [], l.busy ? 'busy' : 'idle'].join(' '),
    tooltip: l.error,
    loop: { loopId: l.loopId, folder: l.folder },
    expanded: true,
    // From the start: a row that could not be expanded at first stays closed.
    children: () => (record ? iterationNodes(record) : []),
  };
}

function pastNode(p: PastLoop, record: LoopRecord | undefined): Node {
  return {
    id: `past/${p.loopId}`,
    label: p.title,
    description: facts(new Date(p.startedAt).toLocaleString(), p.text, p.backend),
    icon: icons[p.class],
    colour: colours[p.class],
    context: 'ralph.loop idle',
    tooltip: p.error,
    loop: { loopId: p.loopId, folder: p.folder },
    transcript: p.loopId,
    children: record ? () => iterationNodes(record) : undefined,
  };
}

/** The newest first. */
function iterationNodes(record: LoopRecord): Node[] {
  return [...record.iterations].reverse().map((it, index) => ({
    id: `loop/${record.loopId}/${it.number}`,
    label: t('Iteration {0}', it.number),
    description: it.running ? t('running') : it.text,
    icon: it.running ? 'loading~spin' : icons[it.class ?? 'info'],
    colour: it.running ? undefined : colours[it.class ?? 'info'],
    tooltip: it.text,
    expanded: index === 0,
    context: 'ralph.iteration',
    children: () => [...fileNodes(record, it), ...toolNodes(record, it)],
  }));
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
    colour: tool.status === 'failed' ? colours.error : undefined,
    context: 'ralph.tool',
    tooltip: tool.status === 'failed' ? t('failed') : undefined,
  };
}
