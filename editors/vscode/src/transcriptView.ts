// The transcript as a read-only document that follows the run.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { t } from './l10n';
import type { Loops } from './loops';
import type { Sidecar } from './sidecar';
import { Transcript } from './transcript';
import { command, type LoopParams, type ReadResult, type UpdateParams } from './wire';
import * as config from './config';

const scheme = 'ralph-transcript';
const minRefresh = 250;
/** Further milliseconds between two refreshes, for each 1000 characters: a long text costs more to show. */
const refreshPerThousand = 5;

interface Open {
  loopId: string;
  transcript: Transcript;
  /** The place in the loop's log up to which the transcript has it, '' is the beginning. */
  cursor: string;
  /** Reading what is missing; again: there is more. */
  reading?: Promise<void>;
  again: boolean;
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
      vscode.workspace.onDidCloseTextDocument((d) => d.uri.scheme === scheme && this.forget(d.uri)),
      vscode.workspace.onDidChangeTextDocument((e) => e.document.uri.scheme === scheme && follow(e)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.seen()),
      vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration('ralph.transcript.thinking') && this.renew()),
      sidecar.onServer((server) => server.state === 'running' && this.readOpen(() => true)),
      sidecar.onUpdate((p) => this.take(p)),
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
    const loopId = uri.query;
    let open = this.open.get(uri.toString());
    if (!open) {
      open = { loopId, transcript: new Transcript(config.showThinking()), cursor: '', again: false };
      this.open.set(uri.toString(), open);
      await this.read(open);
    }
    return open.transcript.text() || `*${t('Nothing has been said yet.')}*\n`;
  }

  dispose(): void {
    for (const o of this.open.values()) clearTimeout(o.timer);
    for (const d of [...this.subscriptions, this.emitter]) d.dispose();
  }

  private uri(loopId: string, folder?: string): vscode.Uri {
    let uri = this.uris.get(loopId);
    if (!uri) {
      const named = this.loops.byId(loopId) ?? this.loops.past.find((p) => p.loopId === loopId);
      const name = named?.title ?? (folder ? path.basename(vscode.Uri.parse(folder).path) : loopId);
      uri = vscode.Uri.from({ scheme, path: `/Ralph ${fileName(name)}.md`, query: loopId });
      this.uris.set(loopId, uri);
    }
    return uri;
  }

  private forget(uri: vscode.Uri): void {
    clearTimeout(this.open.get(uri.toString())?.timer);
    this.open.delete(uri.toString());
  }

  /** The agent's text is only sent while somebody can see it, and read when somebody sees it again. */
  private seen(): void {
    this.sidecar.watch(this, visible().size > 0);
    this.readOpen((uri) => visible().has(uri));
  }

  private take(p: UpdateParams): void {
    for (const [uri, open] of this.open) {
      if (open.loopId !== p.loopId || !visible().has(uri)) continue;
      if (p.after === open.cursor && !open.reading) {
        open.transcript.add(p.updates);
        open.cursor = p.cursor ?? '';
        this.refresh(uri, open);
      } else {
        void this.read(open).then(() => this.refresh(uri, open));
      }
    }
  }

  /** Makes the open transcripts anew. */
  private renew(): void {
    for (const open of this.open.values()) Object.assign(open, { cursor: '', transcript: new Transcript(config.showThinking()) });
    this.readOpen(() => true);
  }

  private readOpen(which: (uri: string) => boolean): void {
    for (const [uri, open] of this.open) {
      if (which(uri)) void this.read(open).then(() => this.refresh(uri, open));
    }
  }

  private refresh(uri: string, open: Open): void {
    open.timer ??= setTimeout(() => {
      open.timer = undefined;
      this.emitter.fire(vscode.Uri.parse(uri, true));
    }, minRefresh + (open.transcript.length * refreshPerThousand) / 1000);
  }

  /** Reads the loop's log from the transcript's place on, wherever the loop runs or ran. */
  private read(open: Open): Promise<void> {
    open.again = true;
    open.reading ??= this.readAll(open).finally(() => (open.reading = undefined));
    return open.reading;
  }

  private async readAll(open: Open): Promise<void> {
    try {
      while (open.again) {
        open.again = false;
        const { transcript, cursor: after } = open;
        const page = await this.sidecar.execute<ReadResult>(command.read, { loopId: open.loopId, after });
        if (open.transcript !== transcript) continue; // it is made anew
        if (page.reset) open.transcript = new Transcript(config.showThinking());
        open.transcript.add(page.updates);
        open.cursor = page.cursor;
        open.again ||= page.more;
      }
    } catch (e) {
      this.sidecar.log.warn(`reading the transcript: ${String(e)}`);
    }
  }
}

/** The URIs of the transcripts that can be seen. */
function visible(): Set<string> {
  return new Set(vscode.window.visibleTextEditors.map((e) => e.document.uri).filter((uri) => uri.scheme === scheme).map(String));
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
function follow(e: vscode.TextDocumentChangeEvent): void {
  const firstChange = Math.min(...e.contentChanges.map((c) => c.range.start.line));
  for (const editor of vscode.window.visibleTextEditors) {
    if (editor.document !== e.document) continue;
    const bottom = editor.visibleRanges.at(-1)?.end.line ?? 0;
    if (bottom + 3 >= firstChange) reveal(editor);
  }
}

function reveal(editor: vscode.TextEditor): void {
  const last = editor.document.lineAt(editor.document.lineCount - 1).range;
  editor.revealRange(last, vscode.TextEditorRevealType.Default);
}
