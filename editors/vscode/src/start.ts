// Starting a loop: with an argument that says it all, or by writing the prompt and looking at
// what would run.
import * as vscode from 'vscode';
import { chooseFolder } from './choose';
import * as config from './config';
import { answersAfter, type Answers } from './answers';
import type { Drafts } from './drafts';
import { t } from './l10n';
import { ask } from './notifications';
import type { PromptEditor } from './prompt';
import type { Sidecar } from './sidecar';
import type { Changeable, Edit, StartOptions } from './startOptions';
import { isSlash, type DryRunResult, type LoopParams, type SlashResult, type StartParams, type StartResult } from './wire';

/** The argument of ralph.start: with a prompt in it, nothing is asked. */
export interface StartArgument extends StartParams {
  /** A file to read the prompt from: a path in the folder. */
  promptFile?: string;
  /** False: a start from an editor shows no preview. */
  ask?: boolean;
}

/** The loop that another one follows, and what that takes from it. */
export interface Before { loopId?: string; choices: StartParams }

/** A start as it is remembered, with the loop that came of it. */
type Started = StartParams & { loopId?: string };

/** The memory's key for a folder's last start. */
const lastOf = (folder: vscode.Uri): string => `start ${folder.toString()}`;

export class Starter {
  constructor(
    private readonly sidecar: Sidecar, private readonly memory: vscode.Memento, private readonly drafts: Drafts,
    private readonly editor: PromptEditor, private readonly options: StartOptions, private readonly onStarted: (loop: LoopParams) => void,
  ) {}

  /** Starts a loop, or opens the editor for its prompt; undefined when nothing has started. */
  async start(argument: StartArgument = {}): Promise<StartResult | undefined> {
    const folder = await chooseFolder(argument.folder, vscode.window.activeTextEditor?.document.uri);
    if (!folder) return undefined;
    const params = paramsOf(argument, folder);
    if (params.prompt !== undefined || params.promptUri || params.text) return this.run(params);
    const { settings, folder: _, ...answers } = params;
    await this.editor.open(folder, answers);
    return undefined;
  }

  /** Starts what the prompt's editor shows. */
  async startPrompt(): Promise<StartResult | undefined> {
    const document = this.editor.current;
    return document && this.run(this.editor.startOf(document));
  }

  /** Shows what the prompt's editor would start, or asks for one thing of it. */
  async chooseOptions(what?: Changeable): Promise<StartResult | undefined> {
    const document = this.editor.current;
    return document && (await this.editor.choose(document, what)) ? this.run(this.editor.startOf(document)) : undefined;
  }

  async recent(): Promise<void> {
    const document = this.editor.current;
    if (document) await this.editor.recent(document);
  }

  /** Starts with the prompt and the answers of the folder's last start, and asks nothing. */
  async startAgain(argument: StartArgument = {}): Promise<StartResult | undefined> {
    const folder = await chooseFolder(argument.folder, vscode.window.activeTextEditor?.document.uri);
    if (!folder) return undefined;
    const { loopId, ...last } = this.memory.get<Started>(lastOf(folder)) ?? {};
    return Object.keys(last).length > 0 ? this.run(paramsOf({ ...last, ...argument }, folder)) : this.start(argument);
  }

  /** What a start would do. */
  async dryRun(argument: StartArgument): Promise<DryRunResult | SlashResult | undefined> {
    const folder = await chooseFolder(argument.folder, vscode.window.activeTextEditor?.document.uri);
    return folder && this.sidecar.execute<DryRunResult | SlashResult>('ralph.loop.start', { ...paramsOf(argument, folder), replace: undefined, dryRun: true });
  }

  /** Shows what a start would do, and does it when the user agrees. */
  async confirm(argument: StartArgument): Promise<StartResult | undefined> {
    const folder = await chooseFolder(argument.folder, vscode.window.activeTextEditor?.document.uri);
    if (!folder) return undefined;
    const given = paramsOf(argument, folder);
    const effective = (answers: Answers): StartParams => ({ ...given, ...answers });
    if (isSlash(await this.sidecar.execute<DryRunResult | SlashResult>('ralph.loop.start', { ...given, dryRun: true }))) return this.run(given);
    let answers = this.drafts.answers(folder);
    const keep = (edit: Edit) => {
      answers = edit(answers); // what is taken back of the argument stays so
      void this.drafts.choose(folder, edit(this.drafts.answers(folder)));
    };
    const look = { answers, preview: (answers: Answers) => this.editor.dryRun(effective(answers)) };
    const open = () => void (given.promptUri ? vscode.window.showTextDocument(vscode.Uri.parse(given.promptUri)) : this.editor.open(folder));
    if (!(await this.options.confirm(look, keep, open))) return undefined;
    return this.run(effective(answers));
  }

  /** Starts a loop that follows another one: with what was chosen for it, else as that one. */
  startWith(folder: vscode.Uri, before: Before | undefined, argument: StartParams): Promise<StartResult | undefined> {
    return this.run({ ...paramsOf(argument, folder), ...this.answersOf(folder, before) });
  }

  /** What that would be, apart from its prompt. */
  lookOf(folder: vscode.Uri, before: Before | undefined, answers = this.answersOf(folder, before)): Promise<DryRunResult> {
    return this.editor.dryRun({ ...paramsOf({ prompt: '...' }, folder), ...answers });
  }

  /** Asks for one thing of it. */
  async change(folder: vscode.Uri, what: Changeable, before: Before | undefined): Promise<void> {
    const answers = this.answersOf(folder, before);
    const edit = await this.options.change(what, { answers, preview: (now) => this.lookOf(folder, before, now) });
    if (edit) await this.drafts.choose(folder, edit(answers));
  }

  /** What was chosen for the folder's next loop, else what the one before was started with, or the server knows of it. */
  private answersOf(folder: vscode.Uri, before: Before | undefined): Answers {
    const last = this.memory.get<Started>(lastOf(folder));
    return answersAfter(this.drafts.answers(folder), last?.loopId === before?.loopId ? last : undefined, before?.choices);
  }

  /** Starts with the selected text or, without a selection, the whole file. */
  async startFromEditor(argument?: vscode.Uri | StartArgument): Promise<StartResult | undefined> {
    const uri = argument instanceof vscode.Uri ? argument : vscode.window.activeTextEditor?.document.uri;
    if (!uri) {
      void vscode.window.showInformationMessage(t('Open the file that holds the prompt first.'));
      return undefined;
    }
    const given = argument instanceof vscode.Uri ? {} : argument ?? {};
    const folder = await chooseFolder(given.folder, uri);
    if (!folder) return undefined;
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = vscode.window.activeTextEditor;
    const selected = editor?.document === document ? document.getText(editor.selection) : '';
    const start = { ...given, folder: folder.toString(), prompt: selected.trim() ? selected : document.getText() };
    return given.ask === false ? this.run(paramsOf(start, folder)) : this.confirm(start);
  }

  /** Starts, or does what a text says that is another command. */
  async run(params: StartParams): Promise<StartResult | undefined> {
    const result = await this.sidecar.execute<StartResult | SlashResult>('ralph.loop.start', params);
    const folder = vscode.Uri.parse(params.folder ?? '');
    await this.editor.started(folder, params.prompt);
    if (isSlash(result)) {
      if (result.command === '/ralph-help') void vscode.commands.executeCommand('ralph.help');
      else if (result.text) void ask('info', `Ralph: ${result.text}`, []);
      return undefined;
    }
    const { settings, replace, trust, ...last } = params;
    await this.memory.update(lastOf(folder), { ...last, loopId: result.loopId });
    this.onStarted({ loopId: result.loopId, folder: params.folder });
    return result;
  }
}

/** The parameters of a start in a folder: what the argument says, and below it the settings. */
function paramsOf({ promptFile, ask, ...given }: StartArgument, folder: vscode.Uri): StartParams {
  const file = promptFile ? config.promptUri(folder, promptFile) : {};
  return { ...given, ...file, folder: folder.toString(), settings: config.choices(folder) };
}
