// Starting a loop: with an argument that says it all, or by writing the prompt and looking at
// what would run.
import * as vscode from 'vscode';
import { chooseFolder } from './choose';
import * as config from './config';
import { type Answers, type Drafts } from './drafts';
import { t } from './l10n';
import { ask } from './notifications';
import type { PromptEditor } from './prompt';
import type { Sidecar } from './sidecar';
import type { Changeable, Edit, StartOptions } from './startOptions';
import { command, isSlash, type DryRunResult, type LoopParams, type SlashResult, type StartParams, type StartResult } from './wire';

/** The argument of ralph.start: with a prompt in it, nothing is asked. */
export interface StartArgument extends StartParams {
  /** A file to read the prompt from: a path in the folder. */
  promptFile?: string;
  /** False: a start from an editor shows no preview. */
  ask?: boolean;
}

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
    const last = this.memory.get<StartParams>(lastOf(folder));
    return last ? this.run(paramsOf({ ...last, ...argument }, folder)) : this.start(argument);
  }

  /** What a start would do. */
  async dryRun(argument: StartArgument): Promise<DryRunResult | SlashResult | undefined> {
    const folder = await chooseFolder(argument.folder, vscode.window.activeTextEditor?.document.uri);
    return folder && this.sidecar.execute<DryRunResult | SlashResult>(command.start, { ...paramsOf(argument, folder), replace: undefined, dryRun: true });
  }

  /** Shows what a start would do, and does it when the user agrees. */
  async confirm(argument: StartArgument): Promise<StartResult | undefined> {
    const folder = await chooseFolder(argument.folder, vscode.window.activeTextEditor?.document.uri);
    if (!folder) return undefined;
    const given = paramsOf(argument, folder);
    const effective = (answers: Answers): StartParams => ({ ...given, ...answers });
    if (isSlash(await this.sidecar.execute<DryRunResult | SlashResult>(command.start, { ...given, dryRun: true }))) return this.run(given);
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

  /** Starts with what was chosen for the folder's next loop, or for its last one. */
  startWith(folder: vscode.Uri, argument: StartParams): Promise<StartResult | undefined> {
    return this.run({ ...this.answersOf(folder), ...paramsOf(argument, folder) });
  }

  /** What that would be, apart from its prompt. */
  lookOf(folder: vscode.Uri, answers = this.answersOf(folder)): Promise<DryRunResult> {
    return this.editor.dryRun({ ...answers, ...paramsOf({ prompt: '...' }, folder) });
  }

  /** Asks for one thing of it. */
  async change(folder: vscode.Uri, what: Changeable): Promise<void> {
    const answers = this.answersOf(folder);
    const edit = await this.options.change(what, { answers, preview: (now) => this.lookOf(folder, now) });
    if (edit) await this.drafts.choose(folder, edit(answers));
  }

  private answersOf(folder: vscode.Uri): Answers {
    const chosen = this.drafts.answers(folder);
    if (Object.keys(chosen).length > 0) return chosen;
    const { folder: _, prompt, promptUri, text, plan, task, ...last } = this.memory.get<StartParams>(lastOf(folder)) ?? {};
    return last;
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
    const result = await this.sidecar.execute<StartResult | SlashResult>(command.start, params);
    const folder = vscode.Uri.parse(params.folder ?? '');
    await this.editor.started(folder, params.prompt);
    if (isSlash(result)) {
      if (result.command === '/ralph-help') void vscode.commands.executeCommand('ralph.help');
      else if (result.text) void ask('info', `Ralph: ${result.text}`, []);
      return undefined;
    }
    const { settings, replace, trust, ...last } = params;
    await this.memory.update(lastOf(folder), last);
    this.onStarted({ loopId: result.loopId, folder: params.folder });
    return result;
  }
}

/** The parameters of a start in a folder: what the argument says, and below it the settings. */
function paramsOf({ promptFile, ask, ...given }: StartArgument, folder: vscode.Uri): StartParams {
  const file = promptFile ? config.promptUri(folder, promptFile) : {};
  return { ...given, ...file, folder: folder.toString(), settings: config.choices(folder) };
}
