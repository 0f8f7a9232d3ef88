// The editor in which the prompt of a new loop is written: a document of ours, with what
// would run in a line above it. It is an editor and no form, so that undo, find, several
// cursors and the user's own keys are there.
import * as vscode from 'vscode';
import * as config from './config';
import type { Answers } from './answers';
import { folderOf, promptDocument, promptScheme, type Drafts } from './drafts';
import { t } from './l10n';
import type { Loops } from './loops';
import type { Chip } from './panel/messages';
import { pick } from './pick';
import { iconless, short } from './show';
import type { Sidecar } from './sidecar';
import { changeable, withOnClose, type Changeable, type Edit, type StartOptions } from './startOptions';
import { isSlash, type DryRunResult, type RecentPrompt, type SlashResult, type StartParams } from './wire';

const refreshDelay = 300; // milliseconds after the last key

/** What a start would do, or why nobody can tell. */
type Preview = { result: DryRunResult | SlashResult } | { problem: string };

export class PromptEditor implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly previews = new Map<string, Preview>();
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.emitter.event;
  private readonly hint = vscode.window.createTextEditorDecorationType({ after: { color: new vscode.ThemeColor('editorGhostText.foreground') } });
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private stands = '';

  constructor(private readonly sidecar: Sidecar, loops: Loops, private readonly drafts: Drafts, private readonly options: StartOptions) {
    this.subscriptions = [
      this.emitter, this.hint,
      vscode.languages.registerCodeLensProvider({ scheme: promptScheme }, this),
      vscode.workspace.onDidChangeTextDocument((e) => e.document.uri.scheme === promptScheme && this.later()),
      vscode.workspace.onDidOpenTextDocument((d) => d.uri.scheme === promptScheme && this.later(0)),
      vscode.workspace.onDidSaveTextDocument(() => this.later()), // ralph.toml and the prompt file count
      vscode.workspace.onDidChangeConfiguration(() => this.later()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.later(0)),
      loops.onChange(() => {
        const stands = [loops.server.state, ...loops.status.map((l) => `${l.folder} ${l.state}`)].join('\n'); // one in the folder is in the way
        if (stands !== this.stands) this.later(0);
        this.stands = stands;
      }),
    ];
    this.later(0);
  }

  /** Opens the folder's draft; given answers are taken. */
  async open(folder: vscode.Uri, given: Answers = {}): Promise<vscode.TextEditor> {
    if (Object.keys(given).length > 0) await this.drafts.choose(folder, { ...this.drafts.answers(folder), ...given });
    const editor = await vscode.window.showTextDocument(promptDocument(folder), { preview: false });
    this.later(0);
    return editor;
  }

  /** The start that a document is for: without a text it is that of the prompt file. */
  startOf(document: vscode.TextDocument): StartParams {
    const folder = folderOf(document.uri);
    const text = document.getText().trim();
    return { ...this.drafts.answers(folder), ...(text ? { prompt: text } : config.promptFile(folder)), folder: folder.toString(), settings: config.choices(folder) };
  }

  /** The document whose start is meant: the one that is looked at. */
  get current(): vscode.TextDocument | undefined {
    const document = vscode.window.activeTextEditor?.document;
    return document?.uri.scheme === promptScheme ? document : undefined;
  }

  /** Changes one thing of the start, or shows all (then true means: start). */
  async choose(document: vscode.TextDocument, what?: Changeable): Promise<boolean> {
    const folder = folderOf(document.uri);
    const look = { answers: this.drafts.answers(folder), preview: (answers: Answers) => this.dryRun({ ...this.startOf(document), ...answers }) };
    const keep = (edit: Edit) => {
      void this.drafts.choose(folder, edit(this.drafts.answers(folder)));
      this.later(0);
    };
    if (!what) return this.options.confirm(look, keep, () => void this.open(folder));
    const edit = await this.options.change(what, look);
    if (edit) keep(edit);
    return false;
  }

  /** Puts a prompt of an earlier loop into the document; undo takes it out again. */
  async recent(document: vscode.TextDocument): Promise<void> {
    const { prompts } = await this.sidecar.execute<{ prompts: RecentPrompt[] }>('ralph.loop.prompts', { folder: folderOf(document.uri).toString() });
    const items = prompts.map((p) => ({ label: iconless(p.title), description: new Date(p.at).toLocaleString(), text: p.text }));
    const chosen = await pick(items, { title: t('Ralph: recent prompts'), placeHolder: items.length > 0 ? t('Which one?') : t('No loop has run here yet.') });
    if (chosen) await replace(document, chosen.text);
  }

  /** The draft has become a loop: nothing is left of it. */
  async started(folder: vscode.Uri, prompt: string | undefined): Promise<void> {
    const uri = promptDocument(folder).toString();
    const document = vscode.workspace.textDocuments.find((d) => d.uri.toString() === uri);
    if (document && document.getText().trim() !== (prompt ?? '')) return; // of another text
    if (document) { // it may be opened again before the editor has let go of it
      await replace(document, '');
      await document.save();
    }
    await this.drafts.clear(folder);
    await vscode.window.tabGroups.close(vscode.window.tabGroups.all.flatMap((g) => g.tabs).filter((tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === uri));
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const lens = (title: string, id: string, tooltip?: string, ...args: unknown[]) => new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), { title, command: id, tooltip, arguments: args });
    const start = lens(`$(play) ${t('Start')} (${process.platform === 'darwin' ? '⌘' : 'Ctrl+'}Enter)`, 'ralph.prompt.start');
    const preview = this.previews.get(document.uri.toString());
    if (!preview) return [start];
    if ('problem' in preview) return [start, lens(`$(error) ${iconless(preview.problem)}`, 'ralph.prompt.options')];
    const { result } = preview;
    if (isSlash(result)) return [start, lens(result.command, '')];
    const problems = (result.problems ?? []).map((p) => lens(`$(${p.class}) ${iconless(short(p.text))}`, 'ralph.prompt.options', p.text));
    // Not all have room: a model that nobody named has none.
    const rows = Object.entries(titles).flatMap(([label, title]) => {
      const row = result.details.find((d) => d.label === label);
      return row && (label !== 'Model' || (result.sources?.model ?? 'default') !== 'default') ? [lens(title(iconless(row.text), iconless(result.text)), 'ralph.prompt.options', `${label}: ${row.text}`, label)] : [];
    });
    return [start, ...problems, ...rows];
  }

  async dryRun(start: StartParams): Promise<DryRunResult> {
    const result = await this.sidecar.execute<DryRunResult>('ralph.loop.start', { ...start, dryRun: true });
    return isSlash(result) ? result : { ...result, details: withOnClose(result.details) };
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const d of this.subscriptions) d.dispose();
  }

  private later(delay = refreshDelay): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), delay);
  }

  private async refresh(): Promise<void> {
    for (const editor of vscode.window.visibleTextEditors.filter((e) => e.document.uri.scheme === promptScheme)) {
      const { document } = editor;
      const empty = document.getText() ? [] : [{ range: new vscode.Range(0, 0, 0, 0), renderOptions: { after: { contentText: t('What should the agent do? @ names a file. Left empty, the prompt file is the prompt.') } } }];
      editor.setDecorations(this.hint, empty);
      const preview = await this.dryRun(this.startOf(document)).then((result): Preview => ({ result }), (e: unknown): Preview => ({ problem: e instanceof Error ? e.message : String(e) }));
      this.previews.set(document.uri.toString(), preview);
    }
    this.emitter.fire();
  }
}

/** Rows whose text alone doesn't say what they are. */
const named = ['Model', 'Promise'];

/** What would run, a chip for each thing of it that can be changed. */
export function chipsOf({ text: all, details }: DryRunResult): Chip[] {
  return Object.entries(titles).flatMap(([label, title]) => {
    const row = details.find((d) => d.label === label);
    return row && changeable.some((c) => c === label) ? [{ label, text: named.includes(label) ? `${label}: ${row.text}` : title(row.text, all).replace(/^\$\([a-z-]+\) /, ''), title: `${label}: ${row.text}` }] : [];
  });
}

function replace(document: vscode.TextDocument, text: string): Thenable<boolean> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text);
  return vscode.workspace.applyEdit(edit);
}

/** What stands above the prompt of the preview's rows, of which all is in a tooltip and behind a click. What
 * decides most is first: what is last may be cut off. */
const titles: Record<string, (text: string, all: string) => string> = {
  Agent: (text) => `$(hubot) ${text.split(' · ')[0]}`,
  Permissions: (text) => `$(shield) ${short(text, 40)}`,
  Walls: (text) => `$(lock) ${text.startsWith('none') ? t('no walls') : short(text.split(' (')[0]!, 28)}`,
  Limits: (_, all) => `$(dashboard) ${all.split(' · ').at(-1)}`,
  Promise: (text) => `$(pass) ${text.startsWith('none') ? t('no promise') : short(text, 28)}`,
  Worktree: (text) => `$(git-branch) ${short(text.split(', ')[0]!, 32)}`,
  'On close': (text) => `$(debug-disconnect) ${text.split(' (')[0]}`,
  Model: (text) => `$(symbol-misc) ${short(text, 24)}`,
};
