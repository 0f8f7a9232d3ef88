// What the sidecar tells of loops: how they stand, and what happens in them.
import type { Class, Loop, Status, Update, Updates } from './wire.ts';

/** What an agent does, for the widget and for the entry of its iteration. */
export interface Activity {
  tools: Map<string, { title: string; status: string }>;
  said: string; // the end of its present message
  messageId?: string;
}

/** A line of the conversation with what belongs to it. */
export interface Entry {
  text: string;
  class: Class;
  rows?: string[]; // below it, the first ones
  more?: string[]; // in place of them when entries are expanded
  patch?: string[]; // the same, as a diff
  markdown?: string; // in place of the text
}

export interface Page { updates: Update[]; cursor: string; more: boolean }

/** What was heard of loops, by their ids. */
export interface Heard {
  cursors: Map<string, string>; // the places in their logs behind all that was taken
  activities: Map<string, Activity>;
}

/** What a feed calls. */
export interface Watcher {
  changed(): void;
  tell(entry: Entry): void;
  offered(loop: Loop, update: Update): void;
  read(loopId: string, after: string): Promise<Page>;
}

const keptText = 2000; // characters of a message
const keptTools = 50;
/** Updates whose words are for the moment, not for the conversation. */
const passing = new Set(['_ralph/session', '_ralph/discard', '_ralph/retry', '_ralph/compaction']);

export class Feed {
  loops: Loop[] = [];
  message = '';
  readonly heard: Heard;
  private readonly early = new Map<string, Updates[]>();
  private readonly reading = new Map<string, boolean>(); // whether more came meanwhile
  private readonly watcher: Watcher;

  constructor(watcher: Watcher, heard: Heard = { cursors: new Map(), activities: new Map() }) {
    this.watcher = watcher;
    this.heard = heard;
  }

  /** Takes ralph/status. */
  status(status: Status): void {
    for (const loop of status.loops) { // one of ours that was detached is told on
      const was = this.loops.find((one) => one.loopId === loop.loopId);
      if (was?.owned && (loop.detached || !loop.live)) loop.owned = true;
    }
    this.loops = status.loops;
    this.message = status.message;
    for (const { loopId } of status.loops) {
      const waiting = loopId ? this.early.get(loopId) : undefined;
      if (!loopId || !waiting) continue;
      this.early.delete(loopId);
      for (const updates of waiting) this.updates(updates);
    }
    this.watcher.changed();
  }

  /** Takes ralph/update. */
  updates(params: Updates): void {
    const { loopId } = params;
    const loop = this.loops.find((l) => l.loopId === loopId);
    if (!loop) { // the status will say who drives it
      this.early.set(loopId, [...(this.early.get(loopId) ?? []).slice(-50), params]);
      return;
    }
    const cursor = this.heard.cursors.get(loopId);
    if (this.reading.has(loopId)) {
      this.reading.set(loopId, true);
    } else if (cursor === undefined || params.after === cursor) {
      this.take(loop, params.updates, params.cursor);
    } else if (params.cursor !== cursor) {
      void this.catchUp(loopId);
    }
  }

  /** Reads what wasn't heard of the loops that were followed. */
  async catchUpAll(): Promise<void> {
    await Promise.all([...this.heard.cursors.keys()].map((loopId) => this.catchUp(loopId)));
  }

  /** What the agent of a loop does. */
  activity(loopId: string | undefined): Activity {
    return this.heard.activities.get(loopId ?? '') ?? { tools: new Map(), said: '' };
  }

  private async catchUp(loopId: string): Promise<void> {
    if (this.reading.has(loopId)) return;
    this.reading.set(loopId, false);
    try {
      for (let more = true; more;) {
        this.reading.set(loopId, false);
        const page = await this.watcher.read(loopId, this.heard.cursors.get(loopId) ?? '');
        const loop = this.loops.find((l) => l.loopId === loopId);
        if (loop) this.take(loop, page.updates, page.cursor);
        more = page.more || this.reading.get(loopId) === true;
      }
    } catch {
      this.heard.cursors.delete(loopId); // the log is gone: what comes is taken as it comes
    }
    this.reading.delete(loopId);
  }

  private take(loop: Loop, updates: Update[], cursor: string | undefined): void {
    if (loop.loopId && cursor) this.heard.cursors.set(loop.loopId, cursor);
    for (const update of updates) this.one(loop, update);
    if (updates.at(-1)?.sessionUpdate === '_ralph/end') loop.live = false; // the status that says so may be half a second behind
    this.watcher.changed();
  }

  private one(loop: Loop, update: Update): void {
    const id = loop.loopId ?? '';
    const activity = this.heard.activities.get(id) ?? { tools: new Map(), said: '' };
    this.heard.activities.set(id, activity);
    follow(activity, update);
    if (update.sessionUpdate === '_ralph/iteration' && update.phase === 'begin') {
      this.heard.activities.set(id, { tools: new Map(), said: '' });
      return;
    }
    if (!loop.owned || !update.text || passing.has(update.sessionUpdate)) return; // of another's loop nothing is told but shown
    if (update.sessionUpdate === '_ralph/state' && !update.notify) return;
    if (update.sessionUpdate === '_ralph/verify' && update.state === 'running') return;
    const entry: Entry = { text: update.text, class: update.class ?? 'info' };
    if (update.sessionUpdate === '_ralph/iteration') {
      entry.text = `iteration ${update.iteration}${update.maxIterations ? ` of ${update.maxIterations}` : ''} · ${update.text}`;
      entry.rows = lastLines(activity.said, 1);
      entry.more = [...toolLines(activity), ...lastLines(activity.said, 20)];
    }
    if (update.detail) Object.assign(entry, detailed(update.detail.trimEnd().split('\n')));
    this.watcher.tell(entry);
    if (update.notify && update.offers && update.sessionUpdate !== '_ralph/end') this.watcher.offered(loop, update); // of an end the status has them
  }
}

/** Keeps up with what an agent does. */
function follow(activity: Activity, update: Update): void {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk': {
      if (update.parentToolCallId) return; // a subagent speaks
      const text = Array.isArray(update.content) ? '' : update.content?.text ?? '';
      activity.said = ((update.messageId === activity.messageId ? activity.said : '') + text).slice(-keptText);
      activity.messageId = update.messageId;
      return;
    }
    case '_ralph/discard':
      if (update.messageId === activity.messageId) activity.said = '';
      return;
    case 'tool_call':
      if (!update.toolCallId || update.parentToolCallId) return;
      if (activity.tools.size >= keptTools) activity.tools.delete(activity.tools.keys().next().value as string);
      activity.tools.set(update.toolCallId, { title: [update.name, update.title].filter(Boolean).join(' '), status: update.status ?? '' });
      return;
    case 'tool_call_update': {
      const tool = activity.tools.get(update.toolCallId ?? '');
      if (tool && update.status) tool.status = update.status;
    }
  }
}

/** All of what an agent asks: a diff has its colours where there is room. */
function detailed(rows: string[]): Partial<Entry> {
  return rows[0]?.startsWith('--- ') ? { rows, more: [], patch: rows } : { rows };
}

const marks: Record<string, string> = { completed: '✓', failed: '✗' };

/** A line for each call of a tool. */
export function toolLines(activity: Activity): string[] {
  return [...activity.tools.values()].map(({ title, status }) => `${marks[status] ?? '●'} ${title}`);
}

/** The last lines of a text that have something. */
export function lastLines(text: string, count: number): string[] {
  return text.split('\n').filter((line) => line.trim() !== '').slice(-count);
}
