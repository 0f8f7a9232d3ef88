// Completion of @file in a prompt.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { folderOf, promptScheme } from './drafts';

const most = 5000;

export function createMentions(): vscode.Disposable {
  const where = [{ scheme: promptScheme }, { scheme: 'file', pattern: '**/PROMPT*.md' }];
  return vscode.languages.registerCompletionItemProvider(where, { provideCompletionItems: mentions }, '@', '/');
}

async function mentions(document: vscode.TextDocument, position: vscode.Position, token: vscode.CancellationToken): Promise<vscode.CompletionList | undefined> {
  const typed = /(?:^|[\s([{"'`])@([^\s@]*)$/.exec(document.lineAt(position).text.slice(0, position.character))?.[1];
  const folder = document.uri.scheme === promptScheme ? folderOf(document.uri) : vscode.workspace.getWorkspaceFolder(document.uri)?.uri;
  if (typed === undefined || !folder) return undefined;
  const paths = await filesIn(folder, token);
  const range = new vscode.Range(position.translate(0, -typed.length), position);
  return new vscode.CompletionList([
    ...paths.map((p) => item(p, vscode.CompletionItemKind.File, range)),
    ...foldersOf(paths).map((p) => item(p, vscode.CompletionItemKind.Folder, range)),
  ], paths.length === most);
}

async function filesIn(folder: vscode.Uri, token?: vscode.CancellationToken): Promise<string[]> {
  const files = await vscode.workspace.findFiles(new vscode.RelativePattern(folder, '**/*'), excluded(folder), most, token);
  return files.map((f) => path.posix.relative(folder.path, f.path));
}

/** The files and folders that an @ may name. */
export async function filesOf(folder: vscode.Uri): Promise<string[]> {
  const paths = await filesIn(folder);
  return [...paths, ...foldersOf(paths)];
}

function item(label: string, kind: vscode.CompletionItemKind, range: vscode.Range): vscode.CompletionItem {
  const it = new vscode.CompletionItem(label, kind);
  [it.range, it.sortText] = [range, `${String(label.split('/').length).padStart(3, '0')}${label}`]; // what is near comes first
  return it;
}

/** The folders in which there are files: "src/", "src/parser/". */
function foldersOf(paths: string[]): string[] {
  const found = new Set<string>();
  for (const p of paths) for (let at = p.indexOf('/'); at >= 0; at = p.indexOf('/', at + 1)) found.add(p.slice(0, at + 1));
  return [...found];
}

/** What the editor's own search leaves out. */
function excluded(folder: vscode.Uri): string {
  const set = (section: string) => vscode.workspace.getConfiguration(section, folder).get<Record<string, unknown>>('exclude') ?? {};
  const all = Object.entries({ ...set('files'), ...set('search') }).filter(([, on]) => on === true).map(([glob]) => glob);
  return `{${[...all, '**/.git'].join(',')}}`;
}
