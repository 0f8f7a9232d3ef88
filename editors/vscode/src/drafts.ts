// What the user has written for the next loop of a folder, and chosen for it. It is kept
// with the workspace until the loop starts, so closing the editor loses nothing.
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Answers } from './answers';

export const promptScheme = 'ralph-prompt';


interface Draft { text: string; answers: Answers }

/** The document in which a folder's prompt is written. */
export function promptDocument(folder: vscode.Uri): vscode.Uri {
  return vscode.Uri.from({ scheme: promptScheme, path: `/${path.posix.basename(folder.path)}/Ralph Prompt`, query: folder.toString() });
}

export const folderOf = (document: vscode.Uri): vscode.Uri => vscode.Uri.parse(document.query);

/** The drafts as files, so that an editor writes them; the editor saves them by itself (package.json). */
export class Drafts implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.emitter.event;
  private readonly registration: vscode.Disposable;
  readonly createDirectory = refused;
  readonly delete = refused;
  readonly rename = refused;

  constructor(private readonly memory: vscode.Memento) {
    this.registration = vscode.workspace.registerFileSystemProvider(promptScheme, this, { isCaseSensitive: true });
  }

  answers(folder: vscode.Uri): Answers {
    return this.get(folder).answers;
  }

  choose(folder: vscode.Uri, answers: Answers): Thenable<void> {
    return this.set(folder, { ...this.get(folder), answers });
  }

  clear(folder: vscode.Uri): Thenable<void> {
    return this.set(folder, { text: '', answers: {} });
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    // Always the same time: with others, two saves in quick succession met as if somebody else had written.
    return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: Buffer.byteLength(this.get(folderOf(uri)).text) };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return Buffer.from(this.get(folderOf(uri)).text);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const folder = folderOf(uri);
    await this.set(folder, { ...this.get(folder), text: Buffer.from(content).toString() });
    this.emitter.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  dispose(): void {
    this.registration.dispose();
    this.emitter.dispose();
  }

  private get(folder: vscode.Uri): Draft {
    return this.memory.get<Draft>(`draft ${folder.toString()}`) ?? { text: '', answers: {} };
  }

  private set(folder: vscode.Uri, draft: Draft): Thenable<void> {
    return this.memory.update(`draft ${folder.toString()}`, draft);
  }
}

function refused(): never {
  throw vscode.FileSystemError.NoPermissions();
}
