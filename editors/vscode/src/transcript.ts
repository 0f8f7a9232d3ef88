// A transcript as a read-only document. The server writes it (LSP's workspace/textDocumentContent) and tells when there is more.
import * as vscode from 'vscode';
import * as config from './config';
import type { Loops } from './loops';
import type { Sidecar } from './sidecar';
import type { LoopParams } from './wire';

const scheme = 'ralph-loop';

/** Shows a loop's transcript as text, in the tab that has it where one does. */
export async function showAsText(loops: Loops, { loopId }: LoopParams): Promise<vscode.TextEditor | undefined> {
  if (!loopId) return undefined;
  const title = (loops.named(loopId)?.title ?? loopId).replace(/[\s/\\]+/g, ' ').trim().slice(0, 60);
  const uri = open().find((d) => d.uri.path.startsWith(`/${loopId}/`))?.uri
    ?? vscode.Uri.from({ scheme, path: `/${loopId}/Ralph ${title}.md`, query: config.showThinking() ? 'thinking' : '' });
  const document = await vscode.workspace.openTextDocument(uri);
  const has = (tab: vscode.Tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === uri.toString();
  const viewColumn = vscode.window.tabGroups.all.find((group) => group.tabs.some(has))?.viewColumn;
  const editor = await vscode.window.showTextDocument(document, { viewColumn, preview: false });
  reveal(editor);
  return editor;
}

const open = (): vscode.TextDocument[] => vscode.workspace.textDocuments.filter((d) => d.uri.scheme === scheme);

/** Keeps such documents new where the editor doesn't: it drops what comes while one is being opened, and knows of no other server. */
export function keepNew(sidecar: Sidecar): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument((d) => d.uri.scheme === scheme && sidecar.readAgain(d.uri)),
    sidecar.onServer((server) => server.state === 'running' && open().forEach((d) => sidecar.readAgain(d.uri))),
    vscode.workspace.onDidChangeTextDocument((e) => e.document.uri.scheme === scheme && follow(e)),
  );
}

/** Keeps the end in view for whoever was looking at it. */
function follow({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
  const added = contentChanges.reduce((sum, { text, range }) => sum + text.split('\n').length - 1 - (range.end.line - range.start.line), 0);
  for (const editor of vscode.window.visibleTextEditors) {
    if (editor.document !== document) continue;
    const bottom = editor.visibleRanges.at(-1)?.end.line ?? 0;
    if (bottom + 3 >= document.lineCount - added) reveal(editor);
  }
}

function reveal(editor: vscode.TextEditor): void {
  const last = editor.document.lineAt(editor.document.lineCount - 1).range;
  editor.revealRange(last, vscode.TextEditorRevealType.Default);
}
