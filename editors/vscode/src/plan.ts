// A planning session: the agent's own interface in the editor's terminal.
import * as vscode from 'vscode';
import { chooseFolder } from './choose';
import * as config from './config';
import type { Sidecar } from './sidecar';
import type { PlanResult } from './wire';

export interface PlanArgument { folder?: string; prompt?: string; backend?: string; sessionFileUri?: string }

export async function plan(sidecar: Sidecar, argument: PlanArgument = {}): Promise<vscode.Terminal | undefined> {
  const folder = await chooseFolder(argument.folder, vscode.window.activeTextEditor?.document.uri);
  if (!folder) return undefined;
  const { backend } = config.choices(folder);
  const { argv, env, cwd } = await sidecar.execute<PlanResult>('ralph.plan', { backend, prompt: argument.prompt, ...argument, folder: folder.toString() });
  const terminal = vscode.window.createTerminal({ name: argument.sessionFileUri ? 'pi' : 'Ralph plan', shellPath: argv[0], shellArgs: argv.slice(1), env, cwd, iconPath: new vscode.ThemeIcon('comment-discussion') });
  terminal.show();
  return terminal;
}
