// What a transcript shows, as rows. A part is a piece of a loop's log; it is
// made of its updates, and knows nothing of how rows are shown.
import type { Chunk, Class, End, Iteration, Offer, Notice, ToolCall, ToolCallUpdate, ToolKind, Update, UserChunk, Verify } from '../src/wire';
import { plain } from './plain';
import { splitAt } from './split';

interface Base {
  /** Unlike that of any other row of the part. */
  id: number;
  /** Goes up with each change. */
  version: number;
  /** The calls of the agents that it is below, the outermost first; of a text and a tool. */
  above?: string[];
}
/** Where an iteration begins. ended: what came of it, where that is in the same part; isCut: another one began before. */
export interface HeaderRow extends Base { kind: 'iteration'; iteration: number; text: string; facts: string; ended?: Iteration; isCut?: boolean; isRefuted?: boolean }
/** Markdown. by: who said it, if not the agent itself; folded: it is open only when it is asked for. */
export interface TextRow extends Base { kind: 'text'; text: string; by?: 'thought' | 'subagent' | 'user'; message: string }
export interface ToolRow extends Base {
  kind: 'tool';
  iteration: number;
  callId: string;
  name: string;
  title: string;
  tool: ToolKind;
  status: 'in_progress' | 'completed' | 'failed' | 'unknown';
  /** It has agents work: what they do and say is below it. */
  isAgent: boolean;
  /** Something is below it. */
  hasMore?: boolean;
  /** What its agents used. */
  facts?: string;
  location?: { path: string; line?: number };
  input?: unknown;
  output: string;
  /** Lines that the output has besides. */
  omitted?: number;
  /** In milliseconds since 1970; of one that was seen to begin. */
  startedAt?: number;
  /** A result whose call is in the part before: it is shown there, where that is here. */
  isResult?: 'alone' | 'joined';
}
/** A line of what the loop tells, with what can be done and what is behind it. */
export interface SaidRow extends Base { kind: 'said'; about: string; text: string; class: Class; offers: Offer[]; more?: string; receipt?: { label: string; text: string }[]; question?: { id: string; at?: string } }
export type Row = HeaderRow | TextRow | ToolRow | SaidRow;
/** As an object of the union without what the part gives. */
type New<R> = R extends Row ? Omit<R, 'id' | 'version'> : never;

/** What is known of iterations, by number. */
export type Iterations = Map<number, Iteration>;

export class Part {
  readonly rows: Row[] = [];
  /** Characters of the agent's. */
  size = 0;
  private iteration: number;
  private ids = 0;
  private readonly calls = new Map<string, ToolRow>();

  /** iteration: the one in which it begins; iterations learns of those that are in it. */
  constructor(iteration: number, private readonly iterations: Iterations) {
    this.iteration = iteration;
  }

  /** Takes updates; now is in milliseconds for those that just happened, else undefined. */
  add(updates: readonly Update[], now?: number): void {
    for (const u of updates) this.one(u, now);
  }

  /** No more comes: what runs has no end that is known. */
  close(): void {
    for (const row of this.calls.values()) if (row.status === 'in_progress') this.change(row, { status: 'unknown' });
    this.calls.clear();
  }

  /** Gives the results that came in another part, behind this one, to their calls. */
  join(behind: Part): void {
    for (const result of behind.rows) {
      if (result.kind === 'iteration') return; // the ids of its calls are others
      if (result.kind !== 'tool' || !result.isResult) continue;
      const call = this.rows.findLast((row): row is ToolRow => row.kind === 'tool' && row.callId === result.callId && row.iteration === result.iteration && !row.isResult);
      if (!call) continue;
      const { status, output, omitted, facts } = result;
      this.change(call, { status, output, omitted, facts });
      this.change(result, { isResult: 'joined' });
    }
  }

  private one(u: Update, now?: number): void {
    switch (u.sessionUpdate) {
      case 'agent_message_chunk': case 'agent_thought_chunk': case 'user_message_chunk': return this.chunk(u);
      case '_ralph/discard': return this.discard(u.messageId ?? '');
      case 'tool_call': return this.call(u, now);
      case 'tool_call_update': return this.result(u);
      case '_ralph/iteration': return this.begin(u);
      case '_ralph/note': return this.said({ text: [u.label, u.text].filter(Boolean).join(' · '), class: 'info' }, 'note');
      case '_ralph/verify': return this.verify(u);
      case '_ralph/question': return this.said(u, 'question', u.text?.endsWith(u.detail?.trim() ?? u.title) ? '' : u.detail, { id: u.id, at: u.at });
      case '_ralph/end': return this.end(u);
      case 'usage_update': return;
      default: return this.said(u, u.sessionUpdate.slice('_ralph/'.length));
    }
  }

  private chunk(u: Chunk | UserChunk): void {
    const parent = 'parentToolCallId' in u ? u.parentToolCallId : undefined;
    const above = this.above(parent);
    const by = u.sessionUpdate === 'user_message_chunk' ? 'user' : u.sessionUpdate === 'agent_thought_chunk' ? 'thought' : parent && !above ? 'subagent' : undefined;
    const message = `${by ?? ''} ${u.messageId ?? ''} ${parent ?? ''}`;
    let last = this.rows[this.endOf(above) - 1];
    if (last?.kind !== 'text' || last.message !== message) last = this.push<TextRow>({ kind: 'text', text: '', by, message, above });
    let text = last.text + plain(u.content.text);
    this.size += u.content.text.length;
    for (let at = splitAt(text); at > 0; at = splitAt(text)) { // a long message is several rows, so that its end is cheap to show
      this.change(last, { text: text.slice(0, at) });
      text = text.slice(at);
      last = this.push<TextRow>({ kind: 'text', text: '', by, message, above });
    }
    this.change(last, { text });
  }

  /** The text of an attempt that failed goes. */
  private discard(messageId: string): void {
    for (let i = this.rows.length - 1; i >= 0; i--) {
      const row = this.rows[i];
      if (row?.kind === 'iteration') break; // the ids of others are the same
      if (row?.kind === 'text' && row.message.split(' ')[1] === messageId) this.rows.splice(i, 1);
    }
  }

  private call(u: ToolCall, now?: number): void {
    const { toolCallId: callId, kind: tool, status, rawInput: input } = u;
    const [location] = u.locations ?? [];
    this.size += JSON.stringify(input ?? '').length;
    this.calls.set(callId, this.push<ToolRow>({
      kind: 'tool', iteration: this.iteration, callId, name: plain(u.name), title: plain(u.title), tool, status, location, input, output: '', startedAt: now, isAgent: u.subagent !== undefined,
      above: this.above(u.parentToolCallId),
    }));
  }

  private result(u: ToolCallUpdate): void {
    const output = plain((u.content ?? []).map((c) => c.content.text).join(''));
    let row = this.calls.get(u.toolCallId);
    if (!row) { // its call is in the part before
      row = this.push<ToolRow>({ kind: 'tool', iteration: this.iteration, callId: u.toolCallId, name: '', title: '', tool: 'other', status: u.status, output: '', isAgent: false, isResult: 'alone', above: this.above(u.parentToolCallId) });
      this.calls.set(u.toolCallId, row);
    }
    this.size += output.length - row.output.length;
    this.change(row, { status: u.status, output, omitted: u.omitted?.lines, facts: u.facts && plain(u.facts) });
  }

  /** The calls above what is below a call; undefined: it is below none that is known here. */
  private above(parent: string | undefined): string[] | undefined {
    const call = parent === undefined ? undefined : this.calls.get(parent);
    if (!call || call.isResult) return undefined;
    if (!call.hasMore) this.change(call, { hasMore: true });
    return [...call.above ?? [], call.callId];
  }

  /** Where the next row goes: behind all that is below the same call, so that agents that work at once don't mix. */
  private endOf(above: string[] | undefined): number {
    const call = above?.at(-1);
    if (call === undefined) return this.rows.length;
    for (let i = this.rows.length; i > 0; i--) {
      const row = this.rows[i - 1]!;
      if (row.above?.includes(call) || (row.kind === 'tool' && row.callId === call)) return i;
      if (row.kind === 'iteration') break; // the ids of its calls are others
    }
    return this.rows.length;
  }

  private begin(u: Iteration): void {
    this.iteration = u.iteration;
    this.iterations.set(u.iteration, u);
    if (u.phase === 'begin') {
      this.close();
      this.decided();
      const before = this.header();
      if (before && !before.ended) this.change(before, { isCut: true });
      this.push<HeaderRow>({ kind: 'iteration', iteration: u.iteration, text: plain(u.text ?? ''), facts: plain(u.facts ?? '') });
      return;
    }
    const header = this.header();
    if (header?.iteration === u.iteration) this.change(header, { ended: u });
    this.close();
  }

  /** Where the iteration begins that is under way. */
  private header(): HeaderRow | undefined {
    return this.rows.findLast((row): row is HeaderRow => row.kind === 'iteration');
  }

  /** The loop goes on: what was offered at its end, or for a check that could not tell, is decided. */
  decided(): void {
    for (const row of this.rows) if (row.kind === 'said' && row.offers.length > 0 && ['end', 'verify'].includes(row.about)) this.change(row, { offers: [] });
  }

  private end(u: End): void {
    const receipt = (u.receipt ?? []).map(({ label, text }) => ({ label: plain(label), text: plain(text) }));
    this.said(u, 'end', receipt.map(({ label, text }) => `${label.padEnd(12)}${text}`).join('\n'));
    const row = this.rows.at(-1);
    if (row?.kind === 'said' && row.about === 'end') this.change(row, { receipt });
  }

  private verify(u: Verify): void {
    const header = this.header();
    if (header && u.state === 'refuted') this.change(header, { isRefuted: true });
    this.said(u, 'verify', [...(u.problems ?? []).map((p) => [p.path, p.line, p.column].filter(Boolean).join(':') + `: ${p.message}`), u.output ?? ''].filter(Boolean).join('\n'));
  }

  private said({ text, class: kind = 'info', offers = [] }: Notice, about: string, more = '', question?: SaidRow['question']): void {
    if (text) this.push<SaidRow>({ kind: 'said', about, text: plain(text), class: kind, offers, more: plain(more) || undefined, question });
  }

  private push<R extends Row>(row: New<R>): R {
    const made = { ...row, id: this.ids++, version: 0 } as unknown as R;
    this.rows.splice(this.endOf(made.above), 0, made);
    return made;
  }

  private change<R extends Row>(row: R, to: Partial<R>): void {
    Object.assign(row, to);
    row.version++;
  }
}

/** What a search looks through. */
export function textOf(row: Row): string {
  switch (row.kind) {
    case 'iteration': case 'text': return row.text;
    case 'said': return row.more ? `${row.text}\n${row.more}` : row.text;
    case 'tool': return [row.name, row.title, row.output, ...strings(row.input)].join('\n');
  }
}

/** The texts in a tool's input. */
function strings(input: unknown): string[] {
  if (typeof input === 'string') return [plain(input)];
  return typeof input === 'object' && input !== null ? Object.values(input).flatMap(strings) : [];
}
