// The tree of loops, apart from how it is shown.
import { t } from './l10n';
import type { Target } from './changes';
import type { IterationRecord, LoopRecord, ToolRecord } from './loopRecord';
import { changeColours, changeIcons, colours, facts, iconOf, icons } from './show';
import type { ChangedFile, ChangesResult, LoopParams, LoopStatus, PastLoop } from './wire';

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
  children?: () => Node[] | Promise<Node[]>;
  expanded?: boolean;
  /** The loop that a menu's command is for. */
  loop?: LoopParams;
  /** What the commands about changes are for. */
  target?: Target;
  /** A click opens the target's changes. */
  opens?: boolean;
  /** A click shows this loop's transcript. */
  transcript?: string;
}

export interface TreeInput {
  loops: LoopStatus[];
  records: ReadonlyMap<string, LoopRecord>;
  past: PastLoop[];
  /** Reads what a past loop did. */
  read: (loopId: string) => Promise<LoopRecord>;
  /** What a loop or its iteration changed; undefined: nobody knows. */
  changes: (target: Target) => Promise<ChangesResult | undefined>;
}

export function roots(input: TreeInput): Node[] {
  const shown = new Set(input.loops.map((l) => l.loopId));
  const nodes = input.loops.map((l) => loopNode(l, input));
  const past = input.past.filter((p) => !shown.has(p.loopId));
  if (past.length > 0) {
    nodes.push({ id: 'past', label: t('Past loops'), description: String(past.length), icon: 'history', children: () => past.map((p) => pastNode(p, input)) });
  }
  return nodes;
}

function loopNode(l: LoopStatus, input: TreeInput): Node {
  const record = input.records.get(l.loopId ?? '');
  const loop = { loopId: l.loopId, folder: l.folder };
  return {
    id: `loop/${l.loopId ?? l.folder}`,
    label: l.title,
    description: facts(l.line, l.live ? '' : l.backend?.name),
    icon: iconOf(l),
    colour: colours[l.class],
    context: ['ralph.loop', ...l.can ?? [], l.busy ? 'busy' : 'idle'].join(' '),
    tooltip: l.error,
    loop,
    target: loop,
    expanded: true,
    // From the start: a row that could not be expanded at first stays closed.
    children: () => (record ? whatItDid(record, loop, input) : []),
  };
}

function pastNode(p: PastLoop, input: TreeInput): Node {
  const loop = { loopId: p.loopId, folder: p.folder };
  return {
    id: `past/${p.loopId}`,
    label: p.title,
    description: facts(new Date(p.startedAt).toLocaleString(), p.text, p.backend),
    icon: icons[p.class],
    colour: colours[p.class],
    context: 'ralph.loop idle',
    tooltip: p.error,
    loop,
    target: loop,
    transcript: p.loopId,
    children: async () => whatItDid(input.records.get(p.loopId) ?? (await input.read(p.loopId)), loop, input),
  };
}

/** All that it changed, then the iterations, the newest first. */
async function whatItDid(record: LoopRecord, loop: LoopParams, input: TreeInput): Promise<Node[]> {
  const iterations = [...record.iterations].reverse().map((it, index) => iterationNode(record, it, { ...loop, iteration: it.number }, input, index === 0));
  const all = record.iterations.some((it) => it.files !== 0 && !it.running) ? await input.changes(loop) : undefined;
  if (!all || all.files.length === 0) return iterations;
  const id = `loop/${record.loopId}/all`;
  const children = () => all.files.map((f) => fileNode(f, loop, id));
  return [{ id, label: t('All changes'), description: all.text, icon: 'diff-multiple', context: 'ralph.changes', target: loop, children }, ...iterations];
}

function iterationNode(record: LoopRecord, it: IterationRecord, target: Target, input: TreeInput, isNewest: boolean): Node {
  const id = `loop/${record.loopId}/${it.number}`;
  const hasFiles = !it.running && it.files !== 0;
  return {
    id,
    label: t('Iteration {0}', it.number),
    description: it.running ? t('running') : it.text,
    icon: it.running ? 'loading~spin' : icons[it.class ?? 'info'],
    colour: it.running ? undefined : colours[it.class ?? 'info'],
    tooltip: it.text,
    expanded: isNewest,
    context: hasFiles ? 'ralph.changes iteration' : 'ralph.iteration',
    target,
    children: async () => [...(hasFiles ? (await input.changes(target))?.files ?? [] : []).map((f) => fileNode(f, target, id)), ...toolNodes(record, it)],
  };
}

function fileNode(file: ChangedFile, target: Target, id: string): Node {
  const [name, folder] = [file.path.slice(file.path.lastIndexOf('/') + 1), file.path.slice(0, Math.max(0, file.path.lastIndexOf('/')))];
  return {
    id: `${id}/file/${file.path}`,
    label: name,
    description: facts(file.text, folder, file.kept && t('kept')),
    icon: changeIcons[file.status],
    colour: changeColours[file.status],
    context: ['ralph.file', file.kept ? 'kept' : 'open', ...(target.iteration === undefined ? [] : ['iteration'])].join(' '),
    tooltip: facts(file.path, file.status, file.text),
    target: { ...target, paths: [file.path] },
    opens: true,
  };
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
