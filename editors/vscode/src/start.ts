// Starting a loop: with an argument that says it all, or by asking.
import * as vscode from 'vscode';
import { chooseFolder } from './choose';
import * as config from './config';
import { t } from './l10n';
import { promptUri, choosePrompt, type LastPrompt, type Prompt } from './prompt';
import type { Sidecar } from './sidecar';
import { askLimits } from './startLimits';
import { command, isSlash, type DryRunResult, type LoopParams, type SlashResult, type StartParams, type StartResult } from './wire';

/** The argument of ralph.start: with a prompt in it, nothing is asked. */
export interface StartArgument extends StartParams {
  /** A file to read the prompt from: a path in the folder. */
  promptFile?: string;
}

export class Starter {
  constructor(private readonly sidecar: Sidecar, private readonly last: LastPrompt, private readonly onStarted: (loop: LoopParams) => void) {}

  /** Starts a loop; undefined when the user thought better of it. */
  async start(argument: StartArgument = {}): Promise<StartResult | undefined> {
    const folder = await chooseFolder(argument.folder, vscode.window.activeTextEditor?.document.uri);
    if (!folder) return undefined;
    const params = paramsOf(argument, folder);
    if (params.prompt !== undefined || params.promptUri || params.text) return this.run(params);
    const prompt = await choosePrompt(folder, this.last.get());
    return prompt && this.ask({ ...params, ...prompt }, prompt);
  }

  /** What a start would do. */
  async dryRun(argument: StartArgument): Promise<DryRunResult | SlashResult | undefined> {
    const folder = await chooseFolder(argument.folder, vscode.window.activeTextEditor?.document.uri);
    return folder && this.sidecar.execute<DryRunResult | SlashResult>(command.start, { ...paramsOf(argument, folder), replace: undefined, dryRun: true });
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
    const prompt: Prompt = selected.trim() ? { prompt: selected } : { prompt: document.getText() };
    return this.ask({ ...paramsOf(given, folder), ...prompt }, prompt);
  }

  private async ask(params: StartParams, prompt: Prompt): Promise<StartResult | undefined> {
    const effective = await this.dryRun(params);
    if (effective && isSlash(effective)) return this.run(params);
    const start = effective && await askLimits(effective, params, (asked) => this.problemOf(asked));
    if (!start) return undefined;
    await this.last.set(prompt);
    return this.run(start);
  }

  /** Why a start would be refused. */
  private async problemOf(start: StartParams): Promise<string | undefined> {
    try {
      await this.dryRun(start);
      return undefined;
    } catch (e) {
      return e instanceof Error ? e.message : String(e);
    }
  }

  /** Starts, or does what a text says that is another command. */
  async run(params: StartParams): Promise<StartResult | undefined> {
    const result = await this.sidecar.execute<StartResult | SlashResult>(command.start, params);
    if (!isSlash(result)) {
      this.onStarted({ loopId: result.loopId, folder: params.folder });
      return result;
    }
    if (result.command === '/ralph-help') void vscode.commands.executeCommand('ralph.help');
    else if (result.text) void vscode.window.showInformationMessage(`Ralph: ${result.text}`);
    return undefined;
  }
}

/** The parameters of a start in a folder: what the argument says, and below it the settings. */
function paramsOf({ promptFile, ...given }: StartArgument, folder: vscode.Uri): StartParams {
  const file = promptFile ? { promptUri: promptUri(folder, promptFile) } : {};
  return { ...given, ...file, folder: folder.toString(), settings: config.choices(folder) };
}
