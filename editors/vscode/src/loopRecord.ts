// What a loop did, as its updates tell it: iterations and their tool calls. The
// agent's text isn't kept here.
import { t } from './l10n';
import { facts } from './show';
import type { Class, End, Iteration, ToolCall, ToolKind, Update } from './wire';

export interface ToolRecord {
  id: string;
  name: string;
  title: string;
  kind: ToolKind;
  status: 'in_progress' | 'completed' | 'failed';
  /** The call of the agent that made this one. */
  parent?: string;
  /** It has agents work: its title says all. */
  isAgent: boolean;
  /** What they used. */
  facts?: string;
}

export interface IterationRecord {
  number: number;
  running: boolean;
  /** That it wears, where hats hand over. */
  hat?: string;
  /** What it came to. */
  text?: string;
  class?: Class;
  /** It promised what isn't true. */
  isRefuted?: boolean;
  /** How many files it changed; undefined: nobody knows. */
  files?: number;
  tools: ToolRecord[];
  /** Tool calls that are no longer in tools. */
  forgotten: number;
  /** Only its end is known; see fill. */
  unread?: boolean;
}

const maxTools = 200;

export class LoopRecord {
  readonly iterations: IterationRecord[] = [];
  end?: End;
  private readonly running = new Map<string, ToolRecord>();

  constructor(readonly loopId: string) {}

  /** Takes the updates of one notification, which may be from the middle of an iteration. */
  add(updates: readonly Update[], iteration?: number): void {
    const first = updates.find((u) => u.sessionUpdate === 'tool_call' || u.sessionUpdate === '_ralph/iteration');
    if (iteration && iteration !== this.iterations.at(-1)?.number && first?.sessionUpdate === 'tool_call') this.beginIteration(iteration);
    for (const u of updates) {
      switch (u.sessionUpdate) {
        case '_ralph/iteration': this.iteration(u); break;
        case 'tool_call': this.begin(u); break;
        case 'tool_call_update': if (u.status !== 'in_progress') this.finish(u.toolCallId, u.status, u.facts); break;
        case '_ralph/verify': if (u.state === 'refuted') refute(this.iterations.at(-1)); break;
        case '_ralph/end': this.end = u; break;
      }
    }
  }

  /** Takes how those iterations ended of which nothing is known. */
  outline(ends: readonly Iteration[]): void {
    for (const { iteration: number, phase, hat, text, class: kind, changes } of ends) {
      if (this.iterations.some((i) => i.number === number)) continue;
      const behind = this.iterations.findIndex((i) => i.number > number);
      const end = phase === 'end' ? { text, class: kind } : cutOff();
      const it: IterationRecord = { number, running: false, hat, ...end, files: changes?.files, tools: [], forgotten: 0, unread: true };
      this.iterations.splice(behind < 0 ? this.iterations.length : behind, 0, it);
    }
  }

  /** Takes what an iteration did of which only its end is known. */
  fill(number: number, updates: readonly Update[]): void {
    const it = this.iterations.find((i) => i.number === number && i.unread);
    if (!it) return;
    const read = new LoopRecord(this.loopId);
    read.add(updates, number);
    read.interrupted();
    const { tools, forgotten, isRefuted } = read.iterations.at(-1) ?? it;
    Object.assign(it, { tools, forgotten, unread: false });
    if (isRefuted) refute(it);
  }

  /** The loop was interrupted, and whoever ran it says no more. */
  interrupted(): void {
    const it = this.iterations.at(-1);
    if (it?.running) Object.assign(it, { running: false, ...cutOff() });
    this.endCalls();
  }

  private iteration(u: Extract<Update, { sessionUpdate: '_ralph/iteration' }>): void {
    let it = this.iterations.at(-1);
    if (u.phase === 'end' && this.iterations.some((i) => i.number === u.iteration && !i.running)) return; // what was read comes once more
    if (u.phase === 'begin' || it?.number !== u.iteration) it = this.beginIteration(u.iteration, u.hat);
    if (u.phase === 'end') {
      Object.assign(it, { running: false, text: u.text, class: u.class, files: u.changes?.files });
      this.endCalls();
    }
  }

  /** One that was interrupted begins again in its own place. */
  private beginIteration(number: number, hat?: string): IterationRecord {
    this.interrupted();
    this.end = undefined;
    const before = this.iterations.findIndex((i) => i.number === number);
    if (before >= 0) this.iterations.splice(before, 1);
    const it: IterationRecord = { number, running: true, hat, tools: [], forgotten: 0 };
    this.iterations.push(it);
    return it;
  }

  /** A call that has no result by then will have none; the next iteration's have the same ids. */
  private endCalls(): void {
    for (const tool of this.running.values()) tool.status = 'failed';
    this.running.clear();
  }

  private begin(u: ToolCall): void {
    const it = this.iterations.at(-1) ?? this.beginIteration(1);
    if (it.tools.some((known) => known.id === u.toolCallId)) return;
    const tool: ToolRecord = { id: u.toolCallId, name: u.name, title: u.title, kind: u.kind, status: u.status, parent: u.parentToolCallId, isAgent: u.subagent !== undefined };
    it.tools.push(tool);
    if (it.tools.length > maxTools) {
      it.tools.shift();
      it.forgotten++;
    }
    this.running.set(u.toolCallId, tool);
  }

  private finish(id: string, status: 'completed' | 'failed', facts?: string): void {
    const tool = this.running.get(id);
    if (tool) Object.assign(tool, { status, facts });
    this.running.delete(id);
  }
}

/** What came of an iteration that was interrupted: nobody tells. */
const cutOff = (): { text: string; class: Class } => ({ text: t('interrupted'), class: 'warning' });

/** What an iteration came to is not what it promised. */
function refute(it: IterationRecord | undefined): void {
  if (it && !it.isRefuted) Object.assign(it, { isRefuted: true, class: 'warning', text: facts(t('promise refuted'), it.text) });
}
