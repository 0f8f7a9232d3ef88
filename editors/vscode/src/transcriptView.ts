// The transcript as a read-only document that follows the run.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { Part } from '../webview/model';
import * as config from './config';
import { t } from './l10n';
import type { Loops } from './loops';
import { Log } from './panel/log';
import type { Sidecar } from './sidecar';
import { markdown, maxLength } from './transcript';
import type { LoopParams } from './wire';

const scheme = 'ralph-transcript';
const minRefresh = 250;
/** Further milliseconds between two refreshes, for each 1000 characters: a long text costs more to show. */
const refreshPerThousand = 5;

interface Open {
  log: Log;
  /** The end of the log, as much as is shown; the last one is its tail. */
  parts: Part[];
  /** Reads what is before the tail. */
  reading?: Promise<void>;
  timer?: NodeJS.Timeout;
}

export class TranscriptView implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly open = new Map<string, Open>();
  /** By loop id: a loop keeps its document's name. */
  private readonly uris = new Map<string, vscode.Uri>();
  private readonly emitter = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.emitter.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly sidecar: Sidecar, private readonly loops: Loops) {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      // What came while the document was being opened is in no refresh: the editor drops those.
      vscode.workspace.onDidOpenTextDocument((d) => d.uri.scheme === scheme && this.emitter.fire(d.uri)),
      vscode.workspace.onDidCloseTextDocument((d) => d.uri.scheme === scheme && this.forget(d.uri.toString())),
      vscode.workspace.onDidChangeTextDocument((e) => e.document.uri.scheme === scheme && follow(e)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.seen()),
      vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration('ralph.transcript.thinking') && this.open.forEach((open, uri) => this.refresh(uri, open))),
      sidecar.onServer((server) => server.state === 'running' && this.open.forEach((open) => void open.log.open())),
      sidecar.onUpdate((p) => this.inView().forEach((open) => open.log.take(p))),
    ];
  }

  /** Shows a loop's transcript; beside: next to what the user works on, who goes on there. */
  async show(loop: LoopParams, beside = false): Promise<vscode.TextEditor | undefined> {
    if (!loop.loopId) return undefined;
    const uri = this.uri(loop.loopId, loop.folder);
    const document = await vscode.workspace.openTextDocument(uri);
    const isFree = !vscode.window.tabGroups.activeTabGroup.activeTab; // beside nothing would be a gap
    const viewColumn = columnOf(uri) ?? (beside && !isFree ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active);
    const editor = await vscode.window.showTextDocument(document, { viewColumn, preview: false, preserveFocus: beside });
    reveal(editor);
    return editor;
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    let open = this.open.get(uri.toString());
    if (!open) {
      open = this.follow(uri.toString(), uri.query);
      await open.log.open();
      await open.reading;
    }
    return textOf(open) || `*${t('Nothing has been said yet.')}*\n`;
  }

  dispose(): void {
    for (const uri of this.open.keys()) this.forget(uri);
    for (const d of [...this.subscriptions, this.emitter]) d.dispose();
  }

  private uri(loopId: string, folder?: string): vscode.Uri {
    let uri = this.uris.get(loopId);
    if (!uri) {
      const name = this.loops.named(loopId)?.title ?? (folder ? path.basename(vscode.Uri.parse(folder).path) : loopId);
      uri = vscode.Uri.from({ scheme, path: `/Ralph ${fileName(name)}.md`, query: loopId });
      this.uris.set(loopId, uri);
    }
    return uri;
  }

  private follow(uri: string, loopId: string): Open {
    const log = new Log(this.sidecar, loopId, {
      opened: () => {
        open.parts = [new Part(0, new Map())];
        open.reading = this.readBefore(uri, open).catch((e: unknown) => this.failed(String(e)));
      },
      tail: (updates) => {
        open.parts.at(-1)?.add(updates);
        this.refresh(uri, open);
      },
      failed: (reason) => this.failed(reason),
    });
    const open: Open = { log, parts: [] };
    this.open.set(uri, open);
    return open;
  }

  /** Reads the parts before the tail, the last one first, until there is as much as is shown. */
  private async readBefore(uri: string, open: Open): Promise<void> {
    const tail = open.parts.at(-1);
    for (let index = open.log.partCount - 1; index >= 0 && textOf(open).length < maxLength; index--) {
      const updates = await open.log.part(index);
      if (!updates || open.parts.at(-1) !== tail) return; // it begins anew
      const part = new Part(open.log.iterationAt(index), new Map());
      part.add(updates);
      for (const behind of open.parts) part.join(behind);
      open.parts.unshift(part);
    }
    this.refresh(uri, open);
  }

  private failed(reason: string): void {
    this.sidecar.log.warn(`reading the transcript: ${reason}`);
  }

  private forget(uri: string): void {
    const open = this.open.get(uri);
    open?.log.close();
    clearTimeout(open?.timer);
    this.open.delete(uri);
  }

  /** The agent's text is only sent while somebody can see it, and read when somebody sees it again. */
  private seen(): void {
    const inView = this.inView();
    this.sidecar.watch(this, inView.length > 0);
    for (const open of inView) void open.log.read();
  }

  private inView(): Open[] {
    return [...new Set(vscode.window.visibleTextEditors.map((e) => e.document.uri.toString()))].flatMap((uri) => this.open.get(uri) ?? []);
  }

  private refresh(uri: string, open: Open): void {
    open.timer ??= setTimeout(() => {
      open.timer = undefined;
      this.emitter.fire(vscode.Uri.parse(uri, true));
    }, minRefresh + (textOf(open).length * refreshPerThousand) / 1000);
  }
}

function textOf({ log, parts }: Open): string {
  return markdown(parts.flatMap((part) => part.rows), log.iterations, config.showThinking());
}

/** Where a document is open. */
function columnOf(uri: vscode.Uri): vscode.ViewColumn | undefined {
  const has = (tab: vscode.Tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === uri.toString();
  return vscode.window.tabGroups.all.find((group) => group.tabs.some(has))?.viewColumn;
}

/** The text as a tab can show it. */
function fileName(text: string): string {
  return text.replace(/[\s/\\]+/g, ' ').trim().slice(0, 60);
}

/** Keeps the end in view for whoever was looking at it. */
function follow({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
  const added = contentChanges.reduce((sum, { text, range }) => sum + text.split('\n').length - 1 - (range.end.line - range.start.line), 0);
  for (const editor of vscode.window.visibleTextEditors) {
    if (editor.document !== document) continue;
    const bottom = editor.visibleRanges.at(-1)?.end.line ?? 0;
    if (bottom + 3 >= document.lineCount - added) reveal(editor);
  }
}

function reveal(editor: vscode.TextEditor): void {
  const last = editor.document.lineAt(editor.document.lineCount - 1).range;
  editor.revealRange(last, vscode.TextEditorRevealType.Default);
}
