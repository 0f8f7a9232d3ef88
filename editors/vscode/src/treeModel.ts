// The tree of loops, apart from how it is shown.
import { canOf, isPossible } from './can';
import { t } from './l10n';
import type { Target } from './changes';
import type { Place } from './panel/panels';
import type { IterationRecord, LoopRecord, ToolRecord } from './loopRecord';
import { block, changeColours, changeIcons, colours, facts, iconOf, icons, escaped, short, table } from './show';
import type { ChangedFile, ChangesResult, LoopParams, LoopStatus, Offer, PastLoop } from './wire';

export interface Node {
  id: string;
  label: string;
  description?: string;
  icon: string;
  /** Colour of the icon, as a theme colour's id. */
  colour?: string;
  /** Matched by the menus of package.json. */
  context?: string;
  /** In markdown. */
  hover?: () => string;
  /** Absent: nothing below. */
  children?: () => Node[] | Promise<Node[]>;
  /** Differs when there are others below. */
  below?: string;
  /** Of those below, the ones that differ by themselves. */
  parts?: () => Node[];
  expanded?: boolean;
  /** The loop that a menu's command is for. */
  loop?: LoopParams;
  /** What the commands about changes are for. */
  target?: Target;
  /** A click opens the target's changes. */
  opens?: boolean;
  /** Of a file: a file URI. */
  uri?: string;
  /** Where its transcript has it. */
  place?: Place;
  /** A click shows the place. */
  reveals?: boolean;
  /** The question that a click answers. */
  answers?: LoopParams & { id: string };
  /** What its button does. */
  offer?: Offer;
}

export interface TreeInput {
  loops: LoopStatus[];
  records: ReadonlyMap<string, LoopRecord>;
  past: PastLoop[];
  /** Reads how a loop's iterations ended that this window hasn't seen, or what one of them did. */
  read: (loopId: string, iteration?: number) => Promise<LoopRecord>;
  /** What a loop or its iteration changed; undefined: nobody knows. */
  changes: (target: Target) => Promise<ChangesResult | undefined>;
}

/** The host of a loop that no machine has had yet. */
const anywhere = 'fleet';

export function roots(input: TreeInput): Node[] {
  const shown = new Set(input.loops.map((l) => l.loopId));
  const nodes = input.loops.filter((l) => groupOf(l) === undefined).map((l) => loopNode(l, input));
  const groups = new Set(input.loops.flatMap((l) => groupOf(l) ?? []));
  for (const group of groups) nodes.push(groupNode(group, input.loops.filter((l) => groupOf(l) === group), input));
  const past = input.past.filter((p) => !shown.has(p.loopId));
  if (past.length > 0) {
    nodes.push({ id: 'past', label: t('Past loops'), description: String(past.length), icon: 'history', children: () => past.map((p) => pastNode(p, input)) });
  }
  return nodes;
}

/** What a loop stands below that isn't in an open folder: the repository that it is of, '' where that isn't open either. */
const groupOf = (l: LoopStatus): string | undefined => l.worktree?.repository ?? (l.host ? l.origin ?? '' : undefined);

/** The loops in the worktrees of a repository, and those of it that run elsewhere. */
function groupNode(group: string, loops: LoopStatus[], input: TreeInput): Node {
  const below = () => loops.map((l) => loopNode(l, input));
  const holds = facts(loops.some((l) => l.worktree) && t('worktrees'), group && loops.some((l) => l.host) && t('fleet'));
  return {
    id: `repository/${group}`, label: group ? decodeURIComponent(group.slice(group.lastIndexOf('/') + 1)) : t('Fleet'), description: holds, icon: group ? 'repo' : 'server-environment',
    expanded: true, below: loops.map((l) => l.loopId).join(' '), parts: below, children: below,
  };
}

function loopNode(l: LoopStatus, input: TreeInput): Node {
  const record = input.records.get(l.loopId ?? '');
  const loop = { loopId: l.loopId, folder: l.folder };
  return {
    id: `loop/${l.loopId ?? l.folder}`,
    label: short(l.title, 28), // how it stands has to have room
    description: facts(l.text, l.live ? '' : l.backend?.name, l.host !== anywhere && !l.text?.includes(l.host ?? '') && l.host, l.worktree?.branch), // what it does right now is a row below
    icon: iconOf(l),
    colour: colours[l.class],
    context: ['ralph.loop', ...canOf(l), ...(l.worktree ? ['worktree'] : []), l.host ? 'far' : '', l.busy ? 'busy' : 'idle'].filter(Boolean).join(' '),
    hover: () => `**${escaped(l.title)}**\n\n${table([[t('Now'), l.line], ...(l.details ?? []).map((d): [string, string] => [d.label, d.text])])}`,
    loop,
    target: loop,
    place: loop,
    reveals: true,
    expanded: !l.host, // of those there may be many
    below: [record?.iterations.map((it) => `${it.number} ${it.running}`), l.questions?.map((q) => q.id), l.allowed?.map((a) => a.rule)].join(' / '),
    parts: () => record?.iterations.map((it) => iterationNode(record, it, { ...loop, iteration: it.number }, input)) ?? [],
    // From the start: a row that could not be expanded at first stays closed.
    children: async () => {
      if (l.host && l.loopId) void input.read(l.loopId); // once; the row is drawn again when that is there
      return [...decisions(l), ...(record ? await whatItDid(record, loop, input) : [])];
    },
  };
}

/** What its agent waits to be told, and what the user allowed it for the whole loop. */
function decisions(l: LoopStatus): Node[] {
  const id = `loop/${l.loopId}`;
  const asks = (l.questions ?? []).map((q): Node => ({
    id: `${id}/question/${q.id}`, label: q.title, description: t('Answer...'), icon: 'question', colour: colours.warning, context: 'ralph.question',
    hover: () => block(q.detail ?? q.title), answers: { loopId: l.loopId, folder: l.folder, id: q.id },
  }));
  const allowed = (l.allowed ?? []).map((a): Node => {
    const offer = a.offers.find((o) => isPossible(o, canOf(l)));
    return { id: `${id}/allowed/${a.rule}`, label: a.text, description: t('allowed in this loop'), icon: 'pass', context: offer && 'ralph.allowed', offer };
  });
  return [...asks, ...allowed];
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
    hover: () => `**${escaped(p.title)}**\n\n${table([[t('Started'), new Date(p.startedAt).toLocaleString()], [t('Ended'), p.text], [t('Agent'), p.backend], [t('Error'), p.error]])}`,
    loop,
    target: loop,
    place: loop,
    reveals: true,
    children: async () => whatItDid(await input.read(p.loopId), loop, input),
  };
}

/** What menus know a row by. Of a loop of another machine there are no files here to open, to keep or to undo. */
function context(words: string, loopId: string | undefined, { loops }: TreeInput): string {
  return loops.some((l) => l.loopId === loopId && l.host) ? words.replace('ralph.', 'ralph.far ') : words;
}

/** All that it changed, then the iterations, the newest first. */
async function whatItDid(record: LoopRecord, loop: LoopParams, input: TreeInput): Promise<Node[]> {
  const iterations = [...record.iterations].reverse().map((it) => iterationNode(record, it, { ...loop, iteration: it.number }, input));
  const all = record.iterations.some((it) => it.files !== 0 && !it.running) ? await input.changes(loop) : undefined;
  if (!all || all.files.length === 0) return iterations;
  const id = `loop/${record.loopId}/all`;
  const children = () => all.files.map((f) => fileNode(f, loop, id, input));
  return [{ id, label: t('All changes'), description: all.text, icon: 'diff-multiple', context: context('ralph.changes', record.loopId, input), target: loop, children }, ...iterations];
}

function iterationNode(record: LoopRecord, it: IterationRecord, target: Target, input: TreeInput): Node {
  const isNewest = it === record.iterations.at(-1);
  // The editor remembers by its id whether a row is open: with another one an old iteration folds, until the user opens it.
  const id = `loop/${record.loopId}/${it.number}${isNewest ? '' : '/old'}`;
  const hasFiles = !it.running && it.files !== 0;
  return {
    id,
    label: t('Iteration {0}', it.number),
    description: it.running ? facts(it.hat, t('running')) : it.text,
    icon: it.running ? 'loading~spin' : icons[it.class ?? 'info'],
    colour: it.running ? undefined : colours[it.class ?? 'info'],
    hover: () => table([[t('Iteration {0}', it.number), it.running ? t('running') : it.text], [t('Files'), it.files?.toString()], [t('Tool calls'), it.unread ? undefined : String(it.forgotten + it.tools.length)]]),
    expanded: isNewest,
    context: context(hasFiles ? 'ralph.changes iteration' : 'ralph.iteration', record.loopId, input),
    target,
    place: target,
    below: `${it.forgotten + it.tools.length}`,
    parts: () => toolNodes(record, it, target),
    children: async () => {
      if (it.unread) await input.read(record.loopId, it.number);
      return [...(hasFiles ? (await input.changes(target))?.files ?? [] : []).map((f) => fileNode(f, target, id, input)), ...toolNodes(record, it, target)];
    },
  };
}

function fileNode(file: ChangedFile, target: Target, id: string, input: TreeInput): Node {
  const [name, folder] = [file.path.slice(file.path.lastIndexOf('/') + 1), file.path.slice(0, Math.max(0, file.path.lastIndexOf('/')))];
  return {
    id: `${id}/file/${file.path}`,
    label: name,
    description: facts(file.text, folder, file.kept && t('kept')),
    icon: changeIcons[file.status],
    colour: changeColours[file.status],
    context: context(['ralph.file', file.kept ? 'kept' : 'open', ...(target.iteration === undefined ? [] : ['iteration'])].join(' '), target.loopId, input),
    hover: () => table([[t('File'), file.path], [t('Was'), file.from], [t('Change'), facts(file.status, file.text)]]),
    uri: file.uri,
    target: { ...target, paths: [file.path] },
    opens: true,
  };
}

const toolIcons: Record<string, string> = {
  read: 'file', edit: 'edit', delete: 'trash', move: 'arrow-right', search: 'search', execute: 'terminal',
  think: 'lightbulb', fetch: 'globe', other: 'tools',
};

function toolNodes(record: LoopRecord, it: IterationRecord, target: Target): Node[] {
  const nodes = below(record, it, target);
  if (it.forgotten > 0) nodes.unshift({ id: `loop/${record.loopId}/${it.number}/more`, label: t('... {0} earlier calls', it.forgotten), icon: 'ellipsis' });
  return nodes;
}

/** The calls of the agent itself, or of one that it has work. */
function below(record: LoopRecord, it: IterationRecord, target: Target, parent?: string): Node[] {
  const known = new Set(it.tools.map((tool) => tool.id));
  return it.tools.flatMap((tool, n) => {
    const isHere = parent === undefined ? tool.parent === undefined || !known.has(tool.parent) : tool.parent === parent;
    if (!isHere || tool.id === parent) return [];
    const node = toolNode(tool, `loop/${record.loopId}/${it.number}/tool/${it.forgotten + n}`, { ...target, toolCallId: tool.id });
    if (!tool.isAgent) return [node];
    const children = (): Node[] => below(record, it, target, tool.id);
    return [{ ...node, below: `${children().length}`, parts: children, children }];
  });
}

function toolNode(tool: ToolRecord, id: string, place: Place): Node {
  return {
    id,
    label: tool.title,
    description: tool.isAgent ? tool.facts : tool.title === tool.name ? undefined : tool.name,
    icon: tool.status === 'in_progress' ? 'loading~spin' : toolIcons[tool.kind] ?? 'tools',
    colour: tool.status === 'failed' ? colours.error : undefined,
    context: 'ralph.tool',
    hover: () => table([[tool.name, tool.title], [t('Used'), tool.facts], [t('Result'), tool.status === 'in_progress' ? t('running') : tool.status === 'failed' ? t('failed') : t('done')]]),
    place,
    reveals: true,
  };
}
