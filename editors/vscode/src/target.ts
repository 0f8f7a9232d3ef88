// Which changes a command is for.
import * as vscode from 'vscode';
import { chooseFolder } from './choose';
import type { DiffTarget } from './diffs';

/** As a keybinding, the tree, a row of source control, its group or its title has it. */
export type ChangesArgument = DiffTarget | { target: DiffTarget } | vscode.SourceControlResourceGroup | vscode.SourceControl | undefined;

/** What the arguments name, or the last loop of the folder. Rows that are chosen together are one target. */
export async function chooseTarget(args: ChangesArgument[]): Promise<DiffTarget | undefined> {
  const named = args.filter((a) => typeof a === 'object' && !Array.isArray(a)); // the editor adds flags and lists
  const targets = named.flatMap((a) => targetsIn(a as NonNullable<ChangesArgument>));
  const [first] = targets;
  if (!first && named.length > 0) return undefined; // a group without files
  if (!first?.loopId && !first?.folder) {
    const folder = await chooseFolder(undefined, vscode.window.activeTextEditor?.document.uri);
    return folder && { ...first, folder: folder.toString() };
  }
  return targets.length === 1 ? first : { ...first, paths: targets.flatMap((t) => t.paths ?? []) };
}

function targetsIn(argument: NonNullable<ChangesArgument>): DiffTarget[] {
  if ('target' in argument) return [argument.target];
  if ('resourceStates' in argument) return argument.resourceStates.flatMap((s) => ('target' in s ? [s.target as DiffTarget] : []));
  if ('createResourceGroup' in argument) return argument.rootUri ? [{ folder: argument.rootUri.toString(), review: true }] : [];
  return [argument];
}
