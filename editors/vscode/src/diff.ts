// What a loop changed: the files, and each one's difference.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { chooseLoop, type LoopArgument } from './choose';
import { t } from './l10n';
import { undo } from './loopRecord';
import type { Loops } from './loops';

const scheme = 'ralph-before';

/** A file that a loop changed, or one of its iterations, as the tree has it. */
export interface ChangedFile { loopId: string; path: string; iteration?: number }

interface Difference { before: vscode.Uri; after: vscode.Uri; title: string }

/** The part of the Git extension that is used. */
interface Git {
  toGitUri(uri: vscode.Uri, ref: string): vscode.Uri;
  getRepository(uri: vscode.Uri): { getObjectDetails(ref: string, path: string): Promise<unknown> } | null;
}

export class Diffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly before = new Map<string, string>();
  private readonly emitter = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.emitter.event;
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

  constructor(private readonly loops: Loops) {}

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.before.get(uri.toString()) ?? '';
  }

  /** Lets the user pick one of a loop's files. */
  async pick(argument?: LoopArgument): Promise<void> {
    const changed = (id: string | undefined) => this.loops.records.get(id ?? '')?.files() ?? [];
    const loop = await chooseLoop(this.loops, argument, (l) => changed(l.loopId).length > 0);
    if (!loop?.loopId) return;
    const loopId = loop.loopId;
    const items = changed(loopId).map((file) => ({ label: path.basename(file), description: path.dirname(file), iconPath: vscode.ThemeIcon.File, file }));
    if (items.length === 0) return void vscode.window.showInformationMessage(t('The loop has changed no file.'));
    const picked = await vscode.window.showQuickPick(items, { title: t('Files that the loop changed'), matchOnDescription: true });
    if (picked) await this.show({ loopId, path: picked.file });
  }

  /** Opens a file next to what it was before, as far as that is known for certain, or else to what is committed. */
  async show(argument: ChangedFile | { file?: ChangedFile }): Promise<void> {
    const file = 'path' in argument ? argument : argument.file;
    if (!file) return;
    const uri = this.uriOf(file);
    const found = (await this.undone(file, uri)) ?? (await sinceCommit(uri));
    if (found) {
      await vscode.commands.executeCommand('vscode.diff', found.before, found.after, found.title);
      return;
    }
    await vscode.window.showTextDocument(uri);
    void vscode.window.showInformationMessage(t('What was in {0} before is not known.', path.basename(uri.fsPath)));
  }

  dispose(): void {
    this.registration.dispose();
    this.emitter.dispose();
  }

  private uriOf(file: ChangedFile): vscode.Uri {
    if (path.isAbsolute(file.path)) return vscode.Uri.file(file.path);
    const folder = this.loops.folderOf(file.loopId);
    const root = folder ? vscode.Uri.parse(folder) : vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file('/');
    return vscode.Uri.joinPath(root, file.path);
  }

  /** The iteration's difference if one is asked for and can be told, else the loop's. */
  private async undone({ loopId, iteration }: ChangedFile, uri: vscode.Uri): Promise<Difference | undefined> {
    const record = this.loops.records.get(loopId);
    if (!record || record.incomplete) return undefined;
    const all = record.changes.filter((c) => this.uriOf({ loopId, path: c.path }).fsPath === uri.fsPath);
    const now = await vscode.workspace.fs.readFile(uri).then((b) => new TextDecoder().decode(b), () => '');
    const name = path.basename(uri.fsPath);
    const later = all.filter((c) => iteration !== undefined && c.iteration > iteration);
    const after = undo(now, later);
    const before = after === undefined ? undefined : undo(after, all.filter((c) => c.iteration === iteration));
    if (iteration !== undefined && before !== undefined && after !== undefined) {
      const side = (when: string, content: string) => this.keep(uri, `${loopId}.${iteration}.${when}`, content);
      return { before: side('before', before), after: later.length > 0 ? side('after', after) : uri, title: t('{0} (iteration {1})', name, iteration) };
    }
    const first = undo(now, all);
    return first === undefined ? undefined : { before: this.keep(uri, loopId, first), after: uri, title: t('{0} (what Ralph changed)', name) };
  }

  /** A read-only document with what a file was. */
  private keep(uri: vscode.Uri, query: string, content: string): vscode.Uri {
    const at = vscode.Uri.from({ scheme, path: uri.path, query });
    this.before.set(at.toString(), content);
    this.emitter.fire(at);
    return at;
  }
}

async function sinceCommit(uri: vscode.Uri): Promise<Difference | undefined> {
  const before = await committed(uri);
  return before && { before, after: uri, title: t('{0} (since the last commit)', path.basename(uri.fsPath)) };
}

async function committed(uri: vscode.Uri): Promise<vscode.Uri | undefined> {
  const extension = vscode.extensions.getExtension<{ enabled: boolean; getAPI(version: 1): Git }>('vscode.git');
  if (!extension) return undefined;
  const git = await extension.activate();
  if (!git.enabled) return undefined;
  const api = git.getAPI(1);
  try {
    await api.getRepository(uri)?.getObjectDetails('HEAD', uri.fsPath);
    return api.getRepository(uri) ? api.toGitUri(uri, 'HEAD') : undefined;
  } catch {
    return undefined; // not committed yet
  }
}
