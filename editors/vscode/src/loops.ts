// All that is known of the workspace's loops, and who is told when it changes.
import * as vscode from 'vscode';
import { LoopRecord } from './loopRecord';
import { Log } from './panel/log';
import type { Sidecar } from './sidecar';
import { notified } from './show';
import { endOf, type Model, type Server } from './statusText';
import type { End, LoopStatus, PastLoop, Notice, Update } from './wire';

const clockTick = 1000;
/** Parts of an iteration that its row is made of, the last ones: of about 512 KiB each. */
const maxParts = 8;

export class Loops implements vscode.Disposable {
  status: LoopStatus[] = [];
  past: PastLoop[] = [];
  /** What there is to say of the loops of other machines. */
  text: string | undefined;
  readonly records = new Map<string, LoopRecord>();
  private readonly logs = new Map<string, Promise<Log>>(); // those that were read, by loop id
  private isTold = false; // this server has told of its loops
  private readonly seen = new Set<string>();
  private readonly met = new Set<string>(); // the loops of other machines that this window knows
  private asked = 0; // how often the past was asked for, and the newest answer so far
  private answered = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly subscriptions: vscode.Disposable[];

  private readonly changeEmitter = new vscode.EventEmitter<void>();
  private readonly endEmitter = new vscode.EventEmitter<{ loopId: string; end: End }>();
  private readonly saidEmitter = new vscode.EventEmitter<{ loopId: string; said: Notice }>();
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
        this.isTold = false;
        if (s.state === 'running') void this.readPast();
        this.changed();
      }),
      sidecar.onStatus((p) => {
        this.isTold = this.server.state === 'running';
        // When its end is told, a loop is still listed, and isn't past: the history is read again once it isn't.
        if (this.status.some((l) => !l.host && l.loopId && !p.loops.some((now) => now.loopId === l.loopId))) void this.readPast();
        this.status = p.loops;
        this.text = p.text;
        for (const l of p.loops) this.take(l);
        this.changed();
      }),
      sidecar.onUpdate(({ loopId, iteration, updates }) => {
        this.record(loopId).add(updates, iteration);
        this.changed();
        for (const u of updates) {
          if (u.sessionUpdate === '_ralph/end') {
            this.endEmitter.fire({ loopId, end: u });
            if (!this.byId(loopId)?.host) void this.readPast();
          }
          const said = notified(u);
          if (said) this.saidEmitter.fire({ loopId, said });
        }
      }),
    ];
  }

  /** The loops as they are once a server that is being started has told of them. */
  async current(): Promise<LoopStatus[]> {
    await this.sidecar.settled();
    if (!this.isTold && this.server.state === 'running') this.status = (await this.sidecar.execute<{ loops: LoopStatus[] }>('ralph.loop.status')).loops;
    return this.status;
  }

  get server(): Server {
    return this.sidecar.state;
  }

  /** What the status bar shows. */
  get model(): Model {
    return { server: this.server, loops: this.status, records: this.records, seen: this.seen };
  }

  byId(loopId: string | undefined): LoopStatus | undefined {
    return this.status.find((l) => l.loopId === loopId);
  }

  /** What is known of a loop that is there, or of a past one. */
  named(loopId: string | undefined): LoopStatus | PastLoop | undefined {
    return this.byId(loopId) ?? this.past.find((p) => p.loopId === loopId);
  }

  /** Resolves when the server has told of a loop. */
  async known(loopId: string | undefined): Promise<void> {
    while (!this.byId(loopId)) {
      await new Promise<void>((resolve) => {
        const changed = this.onChange(() => resolve(changed.dispose()));
      });
    }
  }

  /** The URI of a loop's folder, also of a past loop's. */
  folderOf(loopId: string | undefined): string | undefined {
    return this.named(loopId)?.folder;
  }

  record(loopId: string): LoopRecord {
    let r = this.records.get(loopId);
    if (!r) this.records.set(loopId, (r = new LoopRecord(loopId)));
    return r;
  }

  /** The user knows how the ended loops ended. */
  markSeen(): void {
    for (const l of this.status) if (l.state === 'ended') this.seen.add(endOf(l));
    this.changed();
  }

  dispose(): void {
    clearInterval(this.timer);
    for (const d of [...this.subscriptions, this.changeEmitter, this.tickEmitter, this.endEmitter, this.saidEmitter]) d.dispose();
  }

  private take(l: LoopStatus): void {
    if (!l.loopId) return;
    if (l.host && !this.met.has(l.loopId)) {
      this.met.add(l.loopId);
      if (l.state === 'ended') this.seen.add(endOf(l)); // it was over before this window was there
    }
    if (!l.host && !this.records.has(l.loopId)) void this.read(l.loopId); // of far ones there may be many: they are read when they are looked at
    if (l.state === 'interrupted') this.records.get(l.loopId)?.interrupted(); // any other tells its end itself
  }

  private changed(): void {
    this.changeEmitter.fire();
    if (this.status.some((l) => l.live)) this.timer ??= setInterval(() => this.tickEmitter.fire(), clockTick);
    else this.timer = void clearInterval(this.timer);
  }

  /** Reads how the iterations of a loop ended before this window was there, once, and what one of them did. */
  async read(loopId: string, iteration?: number): Promise<LoopRecord> {
    let reading = this.logs.get(loopId);
    if (!reading) this.logs.set(loopId, (reading = this.readLog(loopId)));
    const log = await reading;
    const record = this.record(loopId);
    if (iteration === undefined) return record;
    const parts = [...Array(log.partCount).keys()].filter((index) => log.iterationAt(index) === iteration).slice(-maxParts);
    const updates: Update[] = [];
    for (const index of parts) updates.push(...(await log.part(index)) ?? []);
    record.fill(iteration, updates);
    return record;
  }

  private async readLog(loopId: string): Promise<Log> {
    const record = this.record(loopId);
    const isLive = this.byId(loopId)?.live;
    let isMet = false; // what goes on is told: it isn't read as well
    const log = new Log(this.sidecar, loopId, {
      opened: (_, iterations) => {
        isMet = isLive === true && record.iterations.length > 0;
        record.outline(iterations.filter((i) => i.phase === 'end' || !isLive));
      },
      tail: (updates) => isMet || record.add(updates),
      failed: (reason) => {
        this.logs.delete(loopId);
        this.sidecar.log.debug(`reading a loop's log: ${reason}`);
      },
    });
    await log.open();
    log.close();
    if (!this.byId(loopId)?.live) record.interrupted();
    this.changed();
    return log;
  }

  private async readPast(): Promise<void> {
    const turn = ++this.asked;
    const folders = (vscode.workspace.workspaceFolders ?? []).map((f) => f.uri.toString());
    try {
      const all = await Promise.all(folders.map((folder) => this.sidecar.execute<{ loops: PastLoop[] }>('ralph.loop.history', { folder, limit: 50 })));
      if (turn < this.answered) return; // an older answer that came later knows less
      this.answered = turn;
      this.past = all.flatMap((r, i) => r.loops.map((l) => ({ ...l, folder: folders[i] }))).sort((a, b) => b.startedAt.localeCompare(a.startedAt));
      this.changed();
    } catch (e) {
      this.sidecar.log.debug(`reading the history: ${String(e)}`);
    }
  }
}
