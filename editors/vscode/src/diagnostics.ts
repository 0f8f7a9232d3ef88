// What the language servers know of files, for loops whose promises pass that.
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { DiagnosticsParams, DiagnosticsResult } from './wire';

const sameBatch = 300; // the editor tells of changed diagnostics in batches, whoever changed them

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const isTyped = (d: vscode.TextDocument) => /^(type|java)script(react)?$/.test(d.languageId);

/** Follows what the editor hears of diagnostics, as nobody can be asked for that afterwards. */
export class Diagnoses implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[];
  /** In milliseconds. */
  readonly patience = {
    quiet: 2_000, // without news: nothing more is expected
    limit: 30_000, // what isn't done by then counts as such
    begin: 10_000, // for a server to say anything of a file that it may know
    known: 3_000, // to ask for what is known
    step: 100,
  };
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
    const opened = Date.now();
    for (;;) {
      await sleep(this.patience.step);
      const states = await Promise.all(files.map((f) => this.stateOf(f, opened)));
      const those = (state: State) => files.filter((_, i) => states[i] === state).map((f) => f.uri.toString());
      const settled = !states.includes('busy') && Date.now() - Math.max(this.heard, opened) >= this.patience.quiet;
      if (settled || token.isCancellationRequested || Date.now() - began >= this.patience.limit) {
        const asked = files.filter((f) => f.errors);
        const shown = errorsIn(folder).filter((e) => !asked.some((f) => isTypeScripts(e) && f.uri.toString() === e.uri));
        return { settled, diagnostics: [...shown, ...asked.flatMap((f) => f.errors ?? [])], seen: those('seen'), busy: those('busy'), unsaved: those('unsaved') };
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
      const looked = this.wasTold(document) || Promise.race([askTypeScript(document), sleep(this.patience.known)]);
      return (await looked) ? [document.uri.toString()] : [];
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

  private async stateOf(file: Looked, opened: number): Promise<State> {
    const { document } = file;
    if (!document) return 'alone';
    if (document.isDirty) return 'unsaved';
    if (!(await isAsOnDisk(document))) return 'busy';
    if (isTyped(document) && file.asked !== document.version) {
      const version = document.version;
      file.errors = await askTypeScript(document);
      if (file.errors) file.asked = version;
    }
    if (this.wasTold(document) || file.asked === document.version) return 'seen';
    return file.isKnown && Date.now() - opened < this.patience.begin ? 'busy' : 'alone';
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
  /** What it found. */
  errors?: Shown[];
}

type Shown = DiagnosticsResult['diagnostics'][number];
const isTypeScripts = (e: Shown) => e.source === 'ts' || e.source === 'js';

/** A mistake as TypeScript's server tells it; lines and columns begin with 1. */
interface Found { start: Place; end: Place; text: string; code?: number; category: string; source?: string }
interface Place { line: number; offset: number }

/** Has TypeScript's server check a text as it is: the editor shows nothing of documents without a tab, and hears nothing of those without mistakes. */
async function askTypeScript(document: vscode.TextDocument): Promise<Shown[] | undefined> {
  if (!isTyped(document)) return undefined;
  const ask = async (command: string) => {
    const answer = await vscode.commands.executeCommand<{ type?: string; body?: Found[] } | undefined>(
      'typescript.tsserverRequest', command, { file: document.uri.fsPath });
    return answer?.type === 'response' && Array.isArray(answer.body) ? answer.body : undefined;
  };
  try {
    const [syntactic, semantic] = await Promise.all([ask('syntacticDiagnosticsSync'), ask('semanticDiagnosticsSync')]);
    if (!syntactic || !semantic) return undefined;
    const at = (p: Place) => ({ line: p.line - 1, character: p.offset - 1 });
    return [...syntactic, ...semantic].filter((d) => d.category === 'error').map((d) => ({
      uri: document.uri.toString(), range: { start: at(d.start), end: at(d.end) }, severity: 1,
      code: d.code, source: d.source ?? (document.languageId.startsWith('java') ? 'js' : 'ts'), message: d.text,
    }));
  } catch {
    return undefined;
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
