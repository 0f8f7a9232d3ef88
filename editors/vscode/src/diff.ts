// What a loop changed: the files, and each one's difference.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { chooseLoop, type LoopArgument } from './choose';
import { t } from './l10n';
import { undo } from './loopRecord';
import type { Loops } from './loops';

const scheme = 'ralph-before';

/** A file that a loop changed, as the tree has it. */
export interface ChangedFile { loopId: string; path: string }

/** The part of the Git extension that is used. */
interface Git {
  toGitUri(uri: vscode.Uri, ref: string): vscode.Uri;
  getRepository(uri: vscode.Uri): { getObjectDetails(ref: string, path: string): Promise<unknown> } | null;
}

export class Diffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly before = new Map<string, string>();
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

  /** Opens a file next to what it was before the loop, or else to what is committed. */
  async show(argument: ChangedFile | { file?: ChangedFile }): Promise<void> {
    const file = 'path' in argument ? argument : argument.file;
    if (!file) return;
    const uri = this.uriOf(file);
    const before = (await this.undone(file, uri)) ?? (await committed(uri));
    if (!before) return void vscode.window.showTextDocument(uri);
    await vscode.commands.executeCommand('vscode.diff', before, uri, t('{0} (what Ralph changed)', path.basename(file.path)));
  }

  dispose(): void {
    this.registration.dispose();
  }

  private uriOf(file: ChangedFile): vscode.Uri {
    if (path.isAbsolute(file.path)) return vscode.Uri.file(file.path);
    const folder = this.loops.byId(file.loopId)?.folder;
    const root = folder ? vscode.Uri.parse(folder) : vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file('/');
    return vscode.Uri.joinPath(root, file.path);
  }

  private async undone(file: ChangedFile, uri: vscode.Uri): Promise<vscode.Uri | undefined> {
    const changes = this.loops.records.get(file.loopId)?.changes.filter((c) => c.path === file.path) ?? [];
    const now = await vscode.workspace.fs.readFile(uri).then((b) => new TextDecoder().decode(b), () => '');
    const before = undo(now, changes);
    if (before === undefined) return undefined;
    const at = vscode.Uri.from({ scheme, path: uri.path, query: `${file.loopId}.${changes.length}` });
    this.before.set(at.toString(), before);
    return at;
  }
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
