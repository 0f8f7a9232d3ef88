// The transcript as a read-only document that follows the run.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { t } from './l10n';
import type { Loops } from './loops';
import { firstOwn, isBegin, Runs } from './runs';
import { CommandError, type Sidecar } from './sidecar';
import { Transcript } from './transcript';
import { command, type LoopParams, type OutputResult, type TranscriptResult, type Update, type UpdateParams } from './wire';
import * as config from './config';

const scheme = 'ralph-transcript';
const minRefresh = 250;
/** Further milliseconds between two refreshes, for each 1000 characters: a long text costs more to show. */
const refreshPerThousand = 5;

interface Open {
  loopId: string;
  transcript: Transcript;
  /** It is to be made anew: another run has begun, or another server. */
  stale: boolean;
  /** Reading what is missing; again: more has come meanwhile. */
  reading?: Promise<void>;
  again: boolean;
  timer?: NodeJS.Timeout;
}

export class TranscriptView implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly open = new Map<string, Open>();
  private readonly runs = new Runs();
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
      vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration('ralph.transcript.thinking') && this.renew()),
      sidecar.onServer((server) => {
        if (server.state !== 'running') return;
        this.runs.forget();
        this.renew();
      }),
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
      open = { loopId, transcript: new Transcript(config.showThinking()), stale: true, again: false };
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

  /** The agent's text is only sent while somebody can see it. */
  private setLevel(): void {
    const visible = vscode.window.visibleTextEditors.some((e) => e.document.uri.scheme === scheme);
    this.sidecar.setLevel(visible ? 'all' : 'tools');
  }

  private take(p: UpdateParams): void {
    const begins = this.runs.begins(p);
    for (const [uri, open] of this.open) {
      if (open.loopId !== p.loopId) continue;
      open.stale ||= begins;
      if (open.reading) open.again = true;
      else if (open.stale || open.transcript.seq < p.seq - p.updates.length) void this.read(open).then(() => this.refresh(uri, open));
      else {
        if (p.dropped > 0) open.transcript.gap();
        open.transcript.add(p.updates, p.seq);
      }
      this.refresh(uri, open);
    }
  }

  /** Makes the open transcripts anew. */
  private renew(): void {
    for (const [uri, open] of this.open) {
      open.stale = true;
      open.again = true; // if it is being read
      void this.read(open).then(() => this.refresh(uri, open));
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
    try {
      do {
        open.again = false;
        const transcript = open.stale ? await this.anew(open) : open.transcript;
        if (!transcript) continue;
        await this.complete(open.loopId, transcript);
        open.transcript = transcript; // only now: the old one is shown until then
      } while (open.again);
    } catch (e) {
      open.stale = true;
      this.sidecar.log.warn(`reading the transcript: ${String(e)}`);
    }
  }

  /** Adds what the running sidecar has beyond the transcript. */
  private async complete(loopId: string, transcript: Transcript): Promise<void> {
    for (let r = await this.output(loopId, transcript.seq); r?.updates.length; r = await this.output(loopId, transcript.seq)) {
      if (!r.complete) transcript.gap();
      transcript.add(r.updates, r.nextSeq);
    }
  }

  /** What the sidecar keeps of its own run of a loop; undefined: it has run none. */
  private async output(loopId: string, afterSeq: number): Promise<OutputResult | undefined> {
    try {
      return await this.sidecar.execute<OutputResult>(command.output, { loopId, afterSeq });
    } catch (e) {
      if (e instanceof CommandError && e.data.reason === 'not_running') return undefined;
      throw e;
    }
  }

  /**
   * A transcript with what the session file has of the runs before the
   * sidecar's own. Undefined: they can't be told apart before its first iteration.
   */
  private async anew(open: Open): Promise<Transcript | undefined> {
    const transcript = new Transcript(config.showThinking());
    open.stale = false;
    const own = await this.output(open.loopId, 0);
    if (own && !own.complete) return transcript; // it is long enough without the session
    const begin = own?.updates.some(isBegin);
    if (own && !begin && !own.updates.some((u) => u.sessionUpdate === '_ralph/end')) {
      open.stale = true;
      return undefined;
    }
    const session = await this.session(open.loopId);
    transcript.addEarlier(begin ? session.slice(0, firstOwn(session, own?.updates ?? [])) : session);
    if (own && !begin) transcript.seq = own.nextSeq; // all of it is in the session
    return transcript;
  }

  /** A loop's session file, none of it when it has none yet, or none any more. */
  private async session(loopId: string): Promise<Update[]> {
    const updates: Update[] = [];
    let cursor: string | undefined;
    try {
      do {
        const page: TranscriptResult = await this.sidecar.execute(command.transcript, { loopId, cursor });
        updates.push(...page.updates);
        cursor = page.nextCursor;
      } while (cursor);
    } catch (e) {
      this.sidecar.log.debug(`reading the session: ${String(e)}`);
    }
    return updates;
  }
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
