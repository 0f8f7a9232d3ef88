// The last loop of a folder as source control: what is to review, and what the loop changed in an editor's gutter.
import * as vscode from 'vscode';
import { isWithout, type Changes } from './changes';
import * as config from './config';
import type { DiffTarget } from './diffs';
import { Git } from './git';
import { t } from './l10n';
import { changeColours, changeIcons } from './show';
import type { Snapshots } from './snapshots';
import type { ChangedFile, ChangesResult } from './wire';

/** A row, with what its commands are for. */
interface Row extends vscode.SourceControlResourceState { target: DiffTarget }

/** A changed block of the gutter; an end of 0 is an empty side, which is behind its start. */
export interface LineChange {
  originalStartLineNumber: number;
  originalEndLineNumber: number;
  modifiedStartLineNumber: number;
  modifiedEndLineNumber: number;
}

/** One loop's. */
class LoopControl implements vscode.Disposable, vscode.QuickDiffProvider {
  private readonly control: vscode.SourceControl;
  private readonly toReview: vscode.SourceControlResourceGroup;
  private readonly kept: vscode.SourceControlResourceGroup;
  private originals = new Map<string, vscode.Uri>();
  private review: ChangedFile[] = [];

  constructor(readonly loopId: string, { uri, name }: vscode.WorkspaceFolder, private readonly snapshots: Snapshots, private readonly git: Git) {
    this.control = vscode.scm.createSourceControl('ralph', `Ralph: ${name}`, uri);
    this.control.inputBox.visible = false;
    this.control.quickDiffProvider = this;
    this.toReview = this.control.createResourceGroup('review', t('To Review'));
    this.kept = this.control.createResourceGroup('kept', t('Kept'));
    this.kept.hideWhenEmpty = true;
  }

  show(result: ChangesResult): void {
    const review = result.files.filter((f) => !f.kept);
    const text = review.filter((f) => !f.binary && f.status !== 'deleted');
    this.originals = new Map(text.map((f) => [vscode.Uri.parse(f.uri).toString(), this.snapshots.base(result, f)]));
    this.toReview.resourceStates = review.map((f) => row(result, f));
    this.kept.resourceStates = result.files.filter((f) => f.kept).map((f) => row(result, f));
    this.review = review;
    this.count();
  }

  /** Adds to the badge what git's view of the same folder hasn't there already. */
  count(): void {
    const counted = this.git.files();
    this.control.count = this.review.filter((f) => !counted.has(vscode.Uri.parse(f.uri).fsPath)).length;
  }

  /** Asked as often as the user types: nothing is waited for. */
  provideOriginalResource(uri: vscode.Uri): vscode.Uri | undefined {
    return this.originals.get(uri.toString());
  }

  dispose(): void {
    this.control.dispose();
  }
}

function row({ loopId, folder }: ChangesResult, file: ChangedFile): Row {
  const target: DiffTarget = { loopId, folder, paths: [file.path], review: !file.kept };
  return {
    target,
    resourceUri: vscode.Uri.parse(file.uri),
    command: { command: 'ralph.openChanges', title: '', arguments: [target] },
    decorations: {
      strikeThrough: file.status === 'deleted', faded: file.kept, tooltip: `${file.status}, ${file.text}`,
      iconPath: new vscode.ThemeIcon(changeIcons[file.status], new vscode.ThemeColor(changeColours[file.status])),
    },
  };
}

export class SourceControls implements vscode.Disposable {
  private readonly shown = new Map<string, LoopControl>(); // by folder
  private readonly git = new Git();
  private turn = 0;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly changes: Changes, private readonly snapshots: Snapshots) {
    this.subscriptions = [
      this.git, this.git.onChange(() => this.shown.forEach((control) => control.count())),
      changes.onChange(() => void this.refresh()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => void this.refresh()),
      vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration('ralph.changes') && void this.refresh()),
    ];
  }

  /** The original of a file whose block is to be reverted. */
  originalOf(uri: vscode.Uri): vscode.Uri | undefined {
    return [...this.shown.values()].map((c) => c.provideOriginalResource(uri)).find(Boolean);
  }

  dispose(): void {
    for (const d of [...this.subscriptions, ...this.shown.values()]) d.dispose();
  }

  private async refresh(): Promise<void> {
    const turn = ++this.turn;
    const folders = config.showsSourceControl() ? vscode.workspace.workspaceFolders ?? [] : [];
    const names = new Set(folders.map((f) => f.uri.toString()));
    for (const folder of this.shown.keys()) if (!names.has(folder)) this.remove(folder);
    await Promise.all(folders.map(async (of) => {
      const folder = of.uri.toString();
      const result = await this.changes.of({ folder }).catch((e: unknown) => (isWithout(e) ? undefined : 'unknown' as const));
      if (result === 'unknown' || turn !== this.turn) return; // a server that is gone for a moment takes nothing away
      if (result && result.files.length > 0) this.show(of, result);
      else this.remove(folder);
    }));
  }

  private show(of: vscode.WorkspaceFolder, result: ChangesResult): void {
    const folder = of.uri.toString();
    if (this.shown.get(folder)?.loopId !== result.loopId) this.remove(folder);
    let control = this.shown.get(folder);
    if (!control) this.shown.set(folder, (control = new LoopControl(result.loopId, of, this.snapshots, this.git)));
    control.show(result);
  }

  private remove(folder: string): void {
    this.shown.get(folder)?.dispose();
    this.shown.delete(folder);
  }
}

/** The lines of a changed block in both documents, each from and up to. */
const linesOf = (change: LineChange): [number, number, number, number] => {
  const between = (start: number, end: number): [number, number] => (end === 0 ? [start, start] : [start - 1, end]);
  return [...between(change.originalStartLineNumber, change.originalEndLineNumber), ...between(change.modifiedStartLineNumber, change.modifiedEndLineNumber)];
};

const both = (uri: vscode.Uri, original: vscode.Uri) => Promise.all([vscode.workspace.openTextDocument(original), vscode.workspace.openTextDocument(uri)]);

/** The original with a changed block as it is now. */
export async function withChange(uri: vscode.Uri, original: vscode.Uri, change: LineChange): Promise<string> {
  const [was, is] = await both(uri, original);
  const [from, to, first, behind] = linesOf(change);
  const all = (document: vscode.TextDocument) => Array.from({ length: document.lineCount }, (_, i) => document.lineAt(i).text);
  return all(was).toSpliced(from, to - from, ...all(is).slice(first, behind)).join((was.getText() ? was : is).eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n');
}

/** Gives a changed block its original lines back; a file that was saved is saved again. */
export async function revertChange(uri: vscode.Uri, original: vscode.Uri, change: LineChange): Promise<void> {
  const [was, is] = await both(uri, original);
  const [from, to, first, behind] = linesOf(change);
  const lines = Array.from({ length: to - from }, (_, i) => was.lineAt(from + i).text);
  const wasSaved = !is.isDirty;
  const eol = is.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n';
  const end = is.lineAt(is.lineCount - 1).range.end;
  const edit = new vscode.WorkspaceEdit();
  if (behind < is.lineCount) edit.replace(uri, new vscode.Range(first, 0, behind, 0), lines.map((l) => l + eol).join(''));
  else if (first > 0) edit.replace(uri, new vscode.Range(is.lineAt(first - 1).range.end, end), lines.map((l) => eol + l).join(''));
  else edit.replace(uri, new vscode.Range(new vscode.Position(0, 0), end), lines.join(eol));
  if ((await vscode.workspace.applyEdit(edit)) && wasSaved) await is.save();
}
