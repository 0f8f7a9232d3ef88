// All that is known of the workspace's loops, and who is told when it changes.
import * as vscode from 'vscode';
import { LoopRecord } from './loopRecord';
import { isLeft, isLive } from './loopText';
import type { Sidecar } from './sidecar';
import type { IterationCost, Model } from './statusText';
import { command, type End, type LoopStatus, type PastLoop, type Said } from './wire';

/** Silence after which a running loop counts as quiet. */
const quietAfter = 3 * 60_000;
const clockTick = 1000;

export class Loops implements vscode.Disposable {
  status: LoopStatus[] = [];
  past: PastLoop[] = [];
  readonly records = new Map<string, LoopRecord>();
  /** Loops that will pause when their iteration has ended, by id. */
  readonly pausing = new Set<string>();
  private readonly activity = new Map<string, string>();
  private readonly lastSign = new Map<string, number>();
  private readonly seen = new Set<string>();
  private asked = 0; // how often the past was asked for, and the newest answer so far
  private answered = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly subscriptions: vscode.Disposable[];

  private readonly changeEmitter = new vscode.EventEmitter<void>();
  private readonly endEmitter = new vscode.EventEmitter<{ loopId: string; end: End }>();
  private readonly saidEmitter = new vscode.EventEmitter<{ loopId: string; said: Said }>();
  private readonly tickEmitter = new vscode.EventEmitter<void>();
  readonly onChange = this.changeEmitter.event;
  /** Once a second while a loop is live: elapsed times differ. */
  readonly onTick = this.tickEmitter.event;
  readonly onEnd = this.endEmitter.event;
  /** What a loop that runs tells its user. */
  readonly onSaid = this.saidEmitter.event;

  constructor(private readonly sidecar: Sidecar) {
    this.subscriptions = [
      sidecar.onServer((s) => {
        if (s.state === 'running') void this.readPast();
        this.changed();
      }),
      sidecar.onStatus((p) => {
        for (const l of p.loops) this.take(l);
        this.status = p.loops;
        this.changed();
      }),
      sidecar.onProgress(({ loopId, message }) => {
        this.sign(loopId);
        this.activity.set(loopId, message.split(' · ').at(-1) ?? message);
      }),
      sidecar.onUpdate((p) => {
        this.sign(p.loopId);
        this.record(p.loopId).add(p.updates);
        this.changed();
        for (const u of p.updates) {
          if (u.sessionUpdate === '_ralph/state' && u.state !== 'ended' && u.state !== 'failed') this.seen.delete(p.loopId); // its next end is another one
          if (u.sessionUpdate === '_ralph/goal' || u.sessionUpdate === '_ralph/promise' || u.sessionUpdate === '_ralph/warning') {
            this.saidEmitter.fire({ loopId: p.loopId, said: u });
          }
          if (u.sessionUpdate !== '_ralph/end') continue;
          this.endEmitter.fire({ loopId: p.loopId, end: u });
          void this.readPast();
        }
      }),
    ];
  }

  /** What the status bar shows. */
  model(now: number): Model {
    const costs = new Map<string, IterationCost[]>();
    for (const [id, r] of this.records) costs.set(id, r.costs());
    const isQuiet = (l: LoopStatus) => l.state === 'running' && !l.tool && now - (this.lastSign.get(l.loopId ?? '') ?? now) > quietAfter;
    return {
      server: this.sidecar.state, loops: this.status, activity: this.activity, seen: this.seen, pausing: this.pausing, iterationCosts: costs,
      quiet: new Set(this.status.filter(isQuiet).map((l) => l.loopId ?? '')),
    };
  }

  byId(loopId: string | undefined): LoopStatus | undefined {
    return this.status.find((l) => l.loopId === loopId);
  }

  /** The URI of a loop's folder, also of a past loop's. */
  folderOf(loopId: string | undefined): string | undefined {
    return this.byId(loopId)?.folder ?? this.past.find((p) => p.loopId === loopId)?.folder;
  }

  record(loopId: string): LoopRecord {
    let r = this.records.get(loopId);
    if (!r) this.records.set(loopId, (r = new LoopRecord(loopId)));
    return r;
  }

  /** The user knows how the ended loops ended. */
  markSeen(): void {
    for (const l of this.status) if (l.state === 'ended' && l.loopId) this.seen.add(l.loopId);
    this.changed();
  }

  /** A pause was asked for; pending: the loop's iteration goes on until then. */
  markPausing(loopId: string | undefined, pending: boolean): void {
    if (loopId && pending && this.byId(loopId)?.state === 'running') this.pausing.add(loopId);
    else if (loopId) this.pausing.delete(loopId);
    this.changed();
  }

  isPausing = (l: LoopStatus): boolean => this.pausing.has(l.loopId ?? '');

  dispose(): void {
    this.stopClock();
    for (const d of [...this.subscriptions, this.changeEmitter, this.tickEmitter, this.endEmitter, this.saidEmitter]) d.dispose();
  }

  private take(l: LoopStatus): void {
    if (!l.loopId) return;
    this.sign(l.loopId);
    if (l.state !== 'running') this.pausing.delete(l.loopId);
    if (isLeft(l)) this.records.get(l.loopId)?.interrupted();
  }

  private sign(loopId: string | undefined): void {
    if (loopId) this.lastSign.set(loopId, Date.now());
  }

  private changed(): void {
    this.changeEmitter.fire();
    const live = this.status.some(isLive);
    if (live) this.timer ??= setInterval(() => this.tickEmitter.fire(), clockTick);
    else this.stopClock();
  }

  private stopClock(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async readPast(): Promise<void> {
    const turn = ++this.asked;
    const folders = (vscode.workspace.workspaceFolders ?? []).map((f) => f.uri.toString());
    try {
      const all = await Promise.all(folders.map((folder) => this.sidecar.execute<{ loops: PastLoop[] }>(command.history, { folder, limit: 50 })));
      if (turn < this.answered) return; // an older answer that came later knows less
      this.answered = turn;
      this.past = all.flatMap((r, i) => r.loops.map((l) => ({ ...l, folder: folders[i] }))).sort((a, b) => b.startedAt.localeCompare(a.startedAt));
      this.changed();
    } catch (e) {
      this.sidecar.log.debug(`reading the history: ${String(e)}`);
    }
  }
}
