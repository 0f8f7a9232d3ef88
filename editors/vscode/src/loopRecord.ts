// What a loop did, as its updates tell it: iterations, their tool calls and the
// files they changed. The agent's text isn't kept here.
import type { Class, End, ToolCall, ToolKind, Update } from './wire';

export interface ToolRecord {
  id: string;
  name: string;
  title: string;
  kind: ToolKind;
  status: 'in_progress' | 'completed' | 'failed';
  path?: string;
  line?: number;
}

export interface IterationRecord {
  number: number;
  running: boolean;
  /** What it came to. */
  text?: string;
  class?: Class;
  tools: ToolRecord[];
  /** Tool calls that are no longer in tools. */
  forgotten: number;
}

/** A change that a tool made to a file. */
export interface Change {
  iteration: number;
  toolCallId: string;
  /** As the agent gave it: absolute, or relative to the loop's folder. */
  path: string;
  /** Replacements, in their order; none: the file was written whole, or in a way that can't be undone. */
  edits: { before: string; after: string }[];
}

const maxTools = 200;
const maxChanges = 2000;

export class LoopRecord {
  readonly iterations: IterationRecord[] = [];
  readonly changes: Change[] = [];
  end?: End;
  /** Some changes aren't in changes any more. */
  incomplete = false;
  private readonly running = new Map<string, { tool: ToolRecord; change?: Change }>();

  constructor(readonly loopId: string) {}

  /** Takes the updates of one notification. */
  add(updates: readonly Update[]): void {
    for (const u of updates) {
      switch (u.sessionUpdate) {
        case '_ralph/iteration': this.iteration(u); break;
        case 'tool_call': this.begin(u); break;
        case 'tool_call_update': if (u.status !== 'in_progress') this.finish(u.toolCallId, u.status); break;
        case '_ralph/end': this.end = u; break;
      }
    }
  }

  /** The paths of the changed files, in the order of their first change. */
  files(iteration?: number): string[] {
    const changes = iteration === undefined ? this.changes : this.changes.filter((c) => c.iteration === iteration);
    return [...new Set(changes.map((c) => c.path))];
  }

  /** The loop was interrupted, and whoever ran it says no more. */
  interrupted(): void {
    const it = this.iterations.at(-1);
    if (it?.running) Object.assign(it, { running: false, class: 'info' });
    this.endCalls();
  }

  private iteration(u: Extract<Update, { sessionUpdate: '_ralph/iteration' }>): void {
    let it = this.iterations.at(-1);
    if (u.phase === 'begin' || it?.number !== u.iteration) it = this.beginIteration(u.iteration);
    if (u.phase === 'end') {
      Object.assign(it, { running: false, text: u.text, class: u.class });
      this.endCalls();
    }
  }

  /** One that was interrupted begins again in its own place. */
  private beginIteration(number: number): IterationRecord {
    this.interrupted();
    this.end = undefined;
    const before = this.iterations.findIndex((i) => i.number === number);
    if (before >= 0) this.iterations.splice(before, 1);
    const it: IterationRecord = { number, running: true, tools: [], forgotten: 0 };
    this.iterations.push(it);
    return it;
  }

  /** A call that has no result by then will have none; the next iteration's have the same ids. */
  private endCalls(): void {
    for (const { tool } of this.running.values()) tool.status = 'failed';
    this.running.clear();
  }

  private begin(u: ToolCall): void {
    let it = this.iterations.at(-1);
    it ??= this.beginIteration(1);
    const at = u.locations?.[0];
    const tool: ToolRecord = { id: u.toolCallId, name: u.name, title: u.title, kind: u.kind, status: u.status, path: at?.path, line: at?.line };
    it.tools.push(tool);
    if (it.tools.length > maxTools) {
      it.tools.shift();
      it.forgotten++;
    }
    const change = u.kind === 'edit' && at ? { iteration: it.number, toolCallId: u.toolCallId, path: at.path, edits: editsOf(u.rawInput) } : undefined;
    this.running.set(u.toolCallId, { tool, change });
  }

  private finish(id: string, status: 'completed' | 'failed'): void {
    const call = this.running.get(id);
    if (!call) return;
    this.running.delete(id);
    call.tool.status = status;
    if (!call.change || status === 'failed') return;
    if (this.changes.length < maxChanges) this.changes.push(call.change);
    else this.incomplete = true;
  }
}

/** The replacements in the input of pi's and claude's editing tools. */
function editsOf(input: unknown): Change['edits'] {
  const raw = input as { edits?: unknown; oldText?: unknown; old_string?: unknown } | undefined;
  const list = Array.isArray(raw?.edits) ? raw.edits : raw?.oldText !== undefined || raw?.old_string !== undefined ? [raw] : [];
  const edits = list.map((e: Record<string, unknown>) => ({ before: e.oldText ?? e.old_string, after: e.newText ?? e.new_string, all: e.replace_all }));
  const known = edits.every((e) => typeof e.before === 'string' && typeof e.after === 'string' && e.all !== true);
  return known ? edits.map((e) => ({ before: e.before as string, after: e.after as string })) : [];
}

/**
 * Undoes the changes to a file, the last one first. Undefined when what was
 * can't be told for certain: the file was written whole or has been changed
 * there since, text was deleted, or the new text stands in several places.
 */
export function undo(content: string, changes: readonly Change[]): string | undefined {
  for (const change of [...changes].reverse()) {
    if (change.edits.length === 0) return undefined;
    for (const { before, after } of [...change.edits].reverse()) {
      const at = onlyPlace(content, after);
      if (at === undefined) return undefined;
      content = content.slice(0, at) + before + content.slice(at + after.length);
      if (onlyPlace(content, before) !== at) return undefined; // the agent could not have meant one place
    }
  }
  return content;
}

/** Where a text stands, if it does so once. */
function onlyPlace(content: string, text: string): number | undefined {
  const at = content.indexOf(text);
  return text !== '' && at >= 0 && content.indexOf(text, at + 1) < 0 ? at : undefined;
}
