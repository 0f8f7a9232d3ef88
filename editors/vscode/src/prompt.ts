// Where a new loop's prompt comes from.
import * as vscode from 'vscode';
import * as config from './config';
import { t } from './l10n';
import type { StartParams } from './wire';

export type Prompt = Pick<StartParams, 'prompt' | 'promptUri' | 'text'>;

/** The prompt of the last start, kept with the workspace. */
export class LastPrompt {
  private static readonly key = 'lastPrompt';

  constructor(private readonly memory: vscode.Memento) {}

  get(): Prompt | undefined {
    return this.memory.get<Prompt>(LastPrompt.key);
  }

  set(prompt: Prompt): Thenable<void> {
    return this.memory.update(LastPrompt.key, prompt);
  }
}

/** The URI of a prompt file that is named by its path in the folder, or absolutely. */
export function promptUri(folder: vscode.Uri, file: string): string {
  const absolute = file.startsWith('/') || /^[a-z]:[\\/]/i.test(file);
  return (absolute ? vscode.Uri.file(file) : vscode.Uri.joinPath(folder, file)).toString();
}

interface Choice extends vscode.QuickPickItem { get(): Promise<Prompt | undefined> }

/** Asks for the prompt, or takes the prompt file when the user doesn't want to be asked. */
export async function choosePrompt(folder: vscode.Uri, last: Prompt | undefined): Promise<Prompt | undefined> {
  const file = config.promptFile(folder);
  const uri = vscode.Uri.parse(promptUri(folder, file));
  if (!config.asks('prompt')) return { promptUri: uri.toString() };
  const choices: Choice[] = [];
  if (await exists(uri)) choices.push({ label: `$(markdown) ${file}`, description: t('the prompt file'), get: () => fromFile(uri) });
  const editor = vscode.window.activeTextEditor;
  const selected = editor?.document.getText(editor.selection).trim();
  if (selected) choices.push({ label: `$(selection) ${t('Selection')}`, description: firstLine(selected), get: () => Promise.resolve({ prompt: selected }) });
  choices.push({ label: `$(edit) ${t('New text...')}`, description: t('typed in'), get: typed });
  if (last) choices.push({ label: `$(history) ${t('Last prompt')}`, description: firstLine(last.prompt ?? last.text ?? last.promptUri ?? ''), get: () => Promise.resolve(last) });
  return (await vscode.window.showQuickPick(choices, { title: t('Ralph: what should the agent do?'), placeHolder: t('The same prompt, again and again, until it is done') }))?.get();
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(() => true, () => false);
}

/** What isn't saved yet counts as well. */
async function fromFile(uri: vscode.Uri): Promise<Prompt> {
  const open = vscode.workspace.textDocuments.find((d) => d.uri.toString() === uri.toString());
  if (open?.isDirty) await open.save();
  return { promptUri: uri.toString() };
}

async function typed(): Promise<Prompt | undefined> {
  const text = await vscode.window.showInputBox({
    title: t('Ralph: the prompt'), ignoreFocusOut: true,
    prompt: t('May have flags: /ralph-loop "Build X" --completion-promise "DONE" --max-iterations=20'),
    validateInput: (value) => (value.trim() ? undefined : { message: t('Say what the agent should do.'), severity: vscode.InputBoxValidationSeverity.Info }),
  });
  return text?.trim() ? { prompt: text } : undefined;
}

function firstLine(text: string): string {
  const line = text.trim().split('\n')[0] ?? '';
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
