// Files as they were after an iteration, read-only: a file system, so that pictures can be compared too.
import * as vscode from 'vscode';
import type { Changes } from './changes';
import type { Sidecar } from './sidecar';
import type { ChangedFile, FileResult, LoopParams } from './wire';

export const scheme = 'ralph-snapshot';

/** After an iteration, or before one; without either as the user has kept it last, else before the loop. */
export interface Moment extends LoopParams { iteration?: number; before?: number }

const kept = 50; // files whose content is remembered

export class Snapshots implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly contents = new Map<string, Promise<Uint8Array>>();
  private since = Date.now();
  private readonly emitter = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.emitter.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly sidecar: Sidecar, changes: Changes) {
    this.subscriptions = [
      this.emitter, changes.onChange(() => this.forget()),
      vscode.workspace.registerFileSystemProvider(scheme, this, { isReadonly: true, isCaseSensitive: true }),
    ];
  }

  /** Names a file of a loop, by its path in the loop's folder. What was not there is empty. */
  uri({ loopId, folder, iteration, before }: Moment, path: string): vscode.Uri {
    const root = vscode.Uri.parse(folder ?? '');
    return vscode.Uri.joinPath(root, path).with({ scheme, authority: '', query: JSON.stringify({ loopId, folder, iteration, before, path }) });
  }

  /** Names what a review compares a file with: it as it was kept last, else before the loop, there under its old name. */
  base({ loopId, folder }: LoopParams, { path, from }: ChangedFile): vscode.Uri {
    return from ? this.uri({ loopId, folder, iteration: 0 }, from) : this.uri({ loopId, folder }, path);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { length: size } = await this.readFile(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime: isFixed(uri) ? 0 : this.since, size };
  }

  readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const key = uri.toString();
    let content = this.contents.get(key);
    if (!content) {
      content = this.sidecar.execute<FileResult>('ralph.loop.file', JSON.parse(uri.query) as object).then(
        ({ text, base64 }) => (base64 === undefined ? new TextEncoder().encode(text) : Buffer.from(base64, 'base64')),
        (e: unknown) => {
          this.contents.delete(key);
          throw vscode.FileSystemError.Unavailable(e instanceof Error ? e.message : String(e));
        },
      );
      this.contents.set(key, content);
      const [oldest] = this.contents.keys();
      if (this.contents.size > kept && oldest) this.contents.delete(oldest);
    }
    return content;
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): never { return refuse(uri); }
  writeFile(uri: vscode.Uri): never { return refuse(uri); }
  delete(uri: vscode.Uri): never { return refuse(uri); }
  rename(uri: vscode.Uri): never { return refuse(uri); }

  dispose(): void {
    for (const d of this.subscriptions) d.dispose();
  }

  private forget(): void {
    this.since = Math.max(Date.now(), this.since + 1);
    const uris = [...this.contents.keys()].map((key) => vscode.Uri.parse(key)).filter((uri) => !isFixed(uri));
    this.contents.clear();
    if (uris.length > 0) this.emitter.fire(uris.map((uri) => ({ type: vscode.FileChangeType.Changed, uri })));
  }
}

/** Whether what it shows stays the same. */
function isFixed(uri: vscode.Uri): boolean {
  const { iteration, before } = JSON.parse(uri.query) as Moment;
  return iteration !== undefined || before !== undefined;
}

function refuse(uri: vscode.Uri): never {
  throw vscode.FileSystemError.NoPermissions(uri);
}
