// What the language servers know of files, for loops whose promises pass that.
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { DiagnosticsParams, DiagnosticsResult } from './wire';

/** Milliseconds, which tests shorten. */
export const patience = {
  quiet: 2_000, // without news: nothing more is expected
  limit: 30_000, // what isn't done by then counts as such
  begin: 10_000, // for a server to say anything of a file that it may know
  known: 3_000, // to ask for what is known
  step: 100,
};
const sameBatch = 300; // the editor tells of changed diagnostics in batches, whoever changed them

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const isTyped = (d: vscode.TextDocument) => /^(type|java)script(react)?$/.test(d.languageId);

/** Follows what the editor hears of diagnostics, as nobody can be asked for that afterwards. */
export class Diagnoses implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[];
  private heard = 0;
  private readonly changed = new Map<string, number>(); // open documents, by URI: when their text was another
  private readonly told = new Map<string, number>(); // when something was told of them
  private readonly ours = new Map<string, number>(); // when we told it ourselves

  constructor() {
    const begin = (d: vscode.TextDocument) => this.changed.set(d.uri.toString(), Date.now());
    this.subscriptions = [
      vscode.languages.onDidChangeDiagnostics((e) => this.hear(e.uris)),
      vscode.workspace.onDidOpenTextDocument(begin),
      vscode.workspace.onDidChangeTextDocument((e) => e.contentChanges.length > 0 && begin(e.document)),
      vscode.workspace.onDidCloseTextDocument((d) => [this.changed, this.told, this.ours].forEach((m) => m.delete(d.uri.toString()))),
    ];
    vscode.workspace.textDocuments.forEach((d) => this.changed.set(d.uri.toString(), 0));
  }

  dispose(): void {
    this.subscriptions.forEach((s) => s.dispose());
  }

  /** The sidecar's own diagnostics say nothing of a language server. */
  published(uri: vscode.Uri): void {
    this.ours.set(uri.toString(), Date.now());
  }

  /** Answers ralph/diagnostics. */
  async answer(params: DiagnosticsParams, token: vscode.CancellationToken): Promise<DiagnosticsResult> {
    const folder = vscode.Uri.parse(params.folder);
    if (params.paths.length === 0) return this.known(folder);
    const began = Date.now();
    const files = await Promise.all(params.paths.map((p) => this.open(vscode.Uri.joinPath(folder, p))));
    for (;;) {
      await sleep(patience.step);
      const states = await Promise.all(files.map((f) => this.stateOf(f, began)));
      const those = (state: State) => files.filter((_, i) => states[i] === state).map((f) => f.uri.toString());
      const settled = !states.includes('busy') && Date.now() - Math.max(this.heard, began) >= patience.quiet;
      if (settled || token.isCancellationRequested || Date.now() - began >= patience.limit) {
        return { settled, diagnostics: errorsIn(folder), seen: those('seen'), busy: those('busy'), unsaved: those('unsaved') };
      }
    }
  }

  private hear(uris: readonly vscode.Uri[]): void {
    const now = Date.now();
    for (const uri of uris.map(String)) {
      if (now - (this.ours.get(uri) ?? 0) < sameBatch) continue;
      this.heard = now;
      if (this.changed.has(uri)) this.told.set(uri, now);
    }
  }

  /** What is known right now of the documents that are open. */
  private async known(folder: vscode.Uri): Promise<DiagnosticsResult> {
    const open = vscode.workspace.textDocuments.filter((d) => isBelow(d.uri, folder) && !d.isDirty);
    const seen = await Promise.all(open.map(async (document) => {
      const looked = this.wasTold(document) || Promise.race([askedTypeScript(document), sleep(patience.known)]);
      return (await looked) === true ? [document.uri.toString()] : [];
    }));
    return { settled: true, diagnostics: errorsIn(folder), seen: seen.flat() };
  }

  /** Opens a file without showing it. What can't be opened, as no text, is nobody's. */
  private async open(uri: vscode.Uri): Promise<Looked> {
    try {
      const document = await vscode.workspace.openTextDocument(uri);
      const symbols = await vscode.commands.executeCommand<unknown[] | undefined>('vscode.executeDocumentSymbolProvider', uri);
      return { uri, document, isKnown: symbols !== undefined && document.languageId !== 'markdown' };
    } catch {
      return { uri };
    }
  }

  private wasTold(document: vscode.TextDocument): boolean {
    const uri = document.uri.toString();
    return (this.told.get(uri) ?? -1) >= (this.changed.get(uri) ?? 0);
  }

  private async stateOf(file: Looked, began: number): Promise<State> {
    const { document } = file;
    if (!document) return 'alone';
    if (document.isDirty) return 'unsaved';
    if (!(await isAsOnDisk(document))) return 'busy';
    if (isTyped(document) && file.asked !== document.version) {
      const version = document.version;
      if (await askedTypeScript(document)) {
        file.asked = version;
        this.heard = Date.now(); // what it shows comes behind
      }
    }
    if (this.wasTold(document) || file.asked === document.version) return 'seen';
    return file.isKnown && Date.now() - began < patience.begin ? 'busy' : 'alone';
  }
}

type State = 'seen' | 'busy' | 'unsaved' | 'alone';

interface Looked {
  uri: vscode.Uri;
  /** Absent: it can't be opened. */
  document?: vscode.TextDocument;
  /** Something knows its language. */
  isKnown?: boolean;
  /** The version that TypeScript's server has checked. */
  asked?: number;
}

/** Has TypeScript's server check a text as it is: of one without mistakes the editor hears nothing. */
async function askedTypeScript(document: vscode.TextDocument): Promise<boolean> {
  if (!isTyped(document)) return false;
  try {
    const answer = await vscode.commands.executeCommand<{ type?: string } | undefined>(
      'typescript.tsserverRequest', 'semanticDiagnosticsSync', { file: document.uri.fsPath });
    return answer?.type === 'response';
  } catch {
    return false;
  }
}

/** A document that was changed on the disk is reloaded a moment later. */
async function isAsOnDisk(document: vscode.TextDocument): Promise<boolean> {
  try {
    const bytes = await vscode.workspace.fs.readFile(document.uri);
    const text = new TextDecoder().decode(bytes);
    const plain = (s: string) => s.replaceAll('\r\n', '\n');
    return text.includes('\uFFFD') || plain(text) === plain(document.getText()); // else it isn't UTF-8
  } catch {
    return false; // it is gone
  }
}

function isBelow(uri: vscode.Uri, folder: vscode.Uri): boolean {
  return uri.scheme === 'file' && uri.fsPath.startsWith(folder.fsPath + path.sep);
}

function errorsIn(folder: vscode.Uri): DiagnosticsResult['diagnostics'] {
  return vscode.languages.getDiagnostics().filter(([uri]) => isBelow(uri, folder)).flatMap(([uri, all]) =>
    all.filter((d) => d.severity === vscode.DiagnosticSeverity.Error).map((d) => ({
      uri: uri.toString(),
      range: { start: pointOf(d.range.start), end: pointOf(d.range.end) },
      severity: 1,
      code: typeof d.code === 'object' ? d.code.value : d.code,
      source: d.source,
      message: d.message,
    })));
}

const pointOf = (p: vscode.Position) => ({ line: p.line, character: p.character });
