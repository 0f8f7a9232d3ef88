// The transcript as a read-only document that follows the run.
import * as vscode from 'vscode';
import { t } from './l10n';
import { folderName } from './loopText';
import type { Loops } from './loops';
import { CommandError, type Sidecar } from './sidecar';
import { Transcript } from './transcript';
import { command, type Iteration, type LoopParams, type OutputResult, type TranscriptResult, type Update, type UpdateParams } from './wire';
import * as config from './config';

const scheme = 'ralph-transcript';
const minRefresh = 250;
/** Further milliseconds between two refreshes, for each 1000 characters: a long text costs more to show. */
const refreshPerThousand = 5;

interface Open {
  loopId: string;
  transcript: Transcript;
  /** Reading what is missing; again: more has come meanwhile. */
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
      vscode.window.onDidChangeVisibleTextEditors(() => this.setLevel()),
      sidecar.onUpdate((p) => this.take(p)),
    ];
  }

  /** Shows a loop's transcript beside what the user works on. */
  async show(loop: LoopParams, preserveFocus = false): Promise<vscode.TextEditor | undefined> {
    if (!loop.loopId) return undefined;
    const document = await vscode.workspace.openTextDocument(this.uri(loop.loopId, loop.folder));
    const editor = await vscode.window.showTextDocument(document, { preview: false, preserveFocus });
    reveal(editor);
    return editor;
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const loopId = uri.query;
    let open = this.open.get(uri.toString());
    if (!open) {
      open = { loopId, transcript: new Transcript(config.showThinking()), again: false };
      this.open.set(uri.toString(), open);
      await this.read(open);
    }
    return open.transcript.text() || `*${t('Nothing has been said yet.')}*\n`;
  }

  dispose(): void {
    for (const o of this.open.values()) clearTimeout(o.timer);
    for (const d of [...this.subscriptions, this.emitter]) d.dispose();
  }

  private uri(loopId: string, folder = this.loops.byId(loopId)?.folder): vscode.Uri {
    let uri = this.uris.get(loopId);
    if (!uri) {
      uri = vscode.Uri.from({ scheme, path: `/Ralph ${folder ? folderName(folder) : loopId}.md`, query: loopId });
      this.uris.set(loopId, uri);
    }
    return uri;
  }

  private forget(uri: vscode.Uri): void {
    clearTimeout(this.open.get(uri.toString())?.timer);
    this.open.delete(uri.toString());
  }

  /** The agent's text is only sent while somebody can see it. */
  private setLevel(): void {
    const visible = vscode.window.visibleTextEditors.some((e) => e.document.uri.scheme === scheme);
    this.sidecar.setLevel(visible ? 'all' : 'tools');
  }

  private take(p: UpdateParams): void {
    for (const [uri, open] of this.open) {
      if (open.loopId !== p.loopId) continue;
      if (open.reading) open.again = true;
      else if (open.transcript.seq < p.seq - p.updates.length) void this.read(open).then(() => this.refresh(uri, open));
      else {
        if (p.dropped > 0) open.transcript.gap();
        open.transcript.add(p.updates, p.seq);
      }
      this.refresh(uri, open);
    }
  }

  private refresh(uri: string, open: Open): void {
    open.timer ??= setTimeout(() => {
      open.timer = undefined;
      this.emitter.fire(vscode.Uri.parse(uri, true));
    }, minRefresh + (open.transcript.length * refreshPerThousand) / 1000);
  }

  /** Reads what the transcript lacks, from the sidecar or from the session file. */
  private read(open: Open): Promise<void> {
    open.reading ??= this.readAll(open).finally(() => (open.reading = undefined));
    return open.reading;
  }

  private async readAll(open: Open): Promise<void> {
    if (open.transcript.seq === 0) await this.readEarlier(open);
    try {
      do {
        open.again = false;
        for (let r = await this.output(open); r.updates.length > 0; r = await this.output(open)) {
          if (!r.complete) open.transcript.gap();
          open.transcript.add(r.updates, r.nextSeq);
        }
      } while (open.again);
    } catch (e) {
      if (!(e instanceof CommandError) || e.data.reason !== 'not_running') this.sidecar.log.warn(`reading the transcript: ${String(e)}`);
    }
  }

  private output(open: Open): Promise<OutputResult> {
    return this.sidecar.execute<OutputResult>(command.output, { loopId: open.loopId, afterSeq: open.transcript.seq });
  }

  /**
   * Takes from the session file what this sidecar's own output lacks: all of a
   * past loop, and the beginning of one that was resumed after a reload.
   */
  private async readEarlier(open: Open): Promise<void> {
    try {
      const session = await this.session(open.loopId);
      const own = await this.output(open).then((r) => r.updates.find(isBegin), () => undefined);
      const until = own ? session.findLastIndex((u) => isBegin(u) && u.iteration === own.iteration) : session.length;
      open.transcript.addEarlier(session.slice(0, Math.max(until, 0)));
    } catch (e) {
      this.sidecar.log.debug(`reading the session: ${String(e)}`); // it has none yet, or none any more
    }
  }

  private async session(loopId: string): Promise<Update[]> {
    const updates: Update[] = [];
    let cursor: string | undefined;
    do {
      const page: TranscriptResult = await this.sidecar.execute(command.transcript, { loopId, cursor });
      updates.push(...page.updates);
      cursor = page.nextCursor;
    } while (cursor);
    return updates;
  }
}

function isBegin(u: Update): u is Iteration {
  return u.sessionUpdate === '_ralph/iteration' && u.phase === 'begin';
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
