// Which files git's own view of changes has: the badge of Source Control adds up all views.
import * as vscode from 'vscode';

/** Of the API of VS Code's own git extension, what is used here. */
interface Repository {
  state: { workingTreeChanges: Change[]; indexChanges: Change[]; mergeChanges: Change[]; untrackedChanges?: Change[]; onDidChange: vscode.Event<void> };
}
interface Change { uri: vscode.Uri }
interface Api { repositories: Repository[]; onDidOpenRepository: vscode.Event<Repository>; onDidCloseRepository: vscode.Event<Repository> }
interface Extension { enabled: boolean; onDidChangeEnablement: vscode.Event<boolean>; getAPI(version: 1): Api }

export class Git implements vscode.Disposable {
  private api: Api | undefined;
  private readonly watched: vscode.Disposable[] = [];
  private readonly emitter = new vscode.EventEmitter<void>();
  /** It has others. */
  readonly onChange = this.emitter.event;
  private readonly subscriptions: vscode.Disposable[] = [this.emitter];

  constructor() {
    this.connect().catch(() => undefined); // there is no such extension that runs
  }

  /** The files that it has, by their paths. */
  files(): Set<string> {
    const all = (this.api?.repositories ?? []).flatMap(({ state: s }) => [...s.workingTreeChanges, ...s.indexChanges, ...s.mergeChanges, ...s.untrackedChanges ?? []]);
    return new Set(all.map((change) => change.uri.fsPath));
  }

  dispose(): void {
    for (const d of [...this.subscriptions, ...this.watched]) d.dispose();
  }

  private async connect(): Promise<void> {
    const git = await vscode.extensions.getExtension<Extension>('vscode.git')?.activate();
    if (!git) return;
    this.subscriptions.push(git.onDidChangeEnablement(() => queueMicrotask(() => this.take(git)))); // it tells before it is so
    this.take(git);
  }

  /** Looks at its repositories, unless the user has turned it off. */
  private take(git: Extension): void {
    this.api = git.enabled ? git.getAPI(1) : undefined;
    for (const d of this.watched.splice(0)) d.dispose();
    if (this.api) {
      const watch = (r: Repository) => {
        this.watched.push(r.state.onDidChange(() => this.emitter.fire()));
        this.emitter.fire();
      };
      this.api.repositories.forEach(watch);
      this.watched.push(this.api.onDidOpenRepository(watch), this.api.onDidCloseRepository(() => this.emitter.fire()));
    }
    this.emitter.fire();
  }
}
