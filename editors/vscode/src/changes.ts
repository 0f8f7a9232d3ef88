// What loops changed, as the server's snapshots have it.
import * as vscode from 'vscode';
import { CommandError, type Sidecar } from './sidecar';
import { throttled } from './throttle';
import type { ChangesResult, LoopParams, Update } from './wire';

const interval = 1000; // milliseconds between two looks at files that change

/** A loop, or one of its iterations, or of that some files. Without a loop it is the folder's last one. */
export interface Target extends LoopParams { iteration?: number; paths?: string[] }

export class Changes implements vscode.Disposable {
  private readonly known = new Map<string, Promise<ChangesResult>>();
  private busy = false; // an agent is at work
  private readonly files = new Set<string>(); // those that are shown, by path
  private watcher: vscode.Disposable | undefined;
  private readonly forgetSoon = throttled(() => this.forget(), interval);
  private readonly emitter = new vscode.EventEmitter<void>();
  /** What was known isn't any more. */
  readonly onChange = this.emitter.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly sidecar: Sidecar) {
    this.subscriptions = [
      this.emitter,
      sidecar.onServer((s) => s.state === 'running' && this.forget()),
      sidecar.onUpdate(({ updates }) => updates.some(makesSnapshot) && this.forget()),
      sidecar.onStatus((p) => {
        this.busy = p.loops.some((l) => l.busy && !l.host);
        this.watch();
      }),
    ];
  }

  /** What a loop or its iteration changed. Fails as the server does; see isWithout. */
  of({ loopId, folder, iteration }: Target): Promise<ChangesResult> {
    const argument = { loopId, folder, ...(iteration !== undefined && { from: iteration - 1, to: iteration }) };
    const key = JSON.stringify(argument);
    let answer = this.known.get(key);
    if (!answer) {
      answer = this.ask(argument);
      answer.catch((e: unknown) => isWithout(e) || this.known.delete(key));
      this.known.set(key, answer);
    }
    return answer;
  }

  /** The answer with all its pages. */
  private async ask(argument: object): Promise<ChangesResult> {
    const all = await this.sidecar.execute<ChangesResult>('ralph.loop.changes', argument);
    for (let { more } = all; more;) {
      const page = await this.sidecar.execute<ChangesResult>('ralph.loop.changes', { ...argument, after: all.files.at(-1)?.path });
      all.files.push(...page.files);
      more = page.more;
    }
    for (const f of all.files) this.files.add(vscode.Uri.parse(f.uri).fsPath);
    this.watch();
    return all;
  }

  /** An undo in a terminal is told by nobody. While an agent works, its iteration's end is, and files change by the thousand. */
  private watch(): void {
    const wanted = this.files.size > 0 && !this.busy;
    if (wanted === (this.watcher !== undefined)) return;
    this.watcher?.dispose();
    if (!wanted) return void (this.watcher = undefined);
    const touched = (uri: vscode.Uri) => this.files.has(uri.fsPath) && this.forgetSoon();
    const watcher = vscode.workspace.createFileSystemWatcher('**/*');
    this.watcher = vscode.Disposable.from(watcher, watcher.onDidCreate(touched), watcher.onDidChange(touched), watcher.onDidDelete(touched));
  }

  /** Something was kept or undone, or an iteration has ended. */
  forget(): void {
    this.known.clear();
    this.files.clear();
    this.emitter.fire();
  }

  dispose(): void {
    this.watcher?.dispose();
    for (const d of this.subscriptions) d.dispose();
  }
}

/** Whether no snapshots are there of what was asked for. */
export const isWithout = (e: unknown): boolean => e instanceof CommandError && e.data.reason === 'no_snapshots';

/** With its first iteration a loop becomes the last one of its folder. */
const makesSnapshot = (u: Update): boolean => u.sessionUpdate === '_ralph/iteration' && (u.phase === 'end' || u.iteration === 1);
