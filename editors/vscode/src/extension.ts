import * as vscode from 'vscode';
import { registerCommands } from './commands';
import * as config from './config';
import { keepContextKeys } from './contextKeys';
import { Diffs } from './diff';
import { t, useTranslation } from './l10n';
import { Loops } from './loops';
import { Notifications } from './notifications';
import { Pages } from './pages';
import { LastPrompt } from './prompt';
import { Sidecar } from './sidecar';
import { Starter } from './start';
import { createStatusBar } from './statusBar';
import { TranscriptView } from './transcriptView';
import { createTree } from './tree';

let sidecar: Sidecar | undefined;

/** What other extensions get; the tests are one. */
export interface Api { sidecar: Sidecar; loops: Loops }

export function activate(context: vscode.ExtensionContext): Api {
  useTranslation(vscode.l10n.t);
  const log = vscode.window.createOutputChannel('Ralph', { log: true });
  const server = new Sidecar(context.extensionPath, log);
  sidecar = server;
  const loops = new Loops(server);
  const transcripts = new TranscriptView(server, loops);
  const starter = new Starter(server, new LastPrompt(context.workspaceState), (loop) => {
    if (config.openOnStart()) void transcripts.show(loop, true);
  });
  const diffs = new Diffs(loops);
  const pages = new Pages(server);
  context.subscriptions.push(
    log, loops, transcripts, diffs, pages,
    createStatusBar(loops), createTree(loops), keepContextKeys(loops), new Notifications(server, loops),
    registerCommands({ sidecar: server, loops, starter, transcripts, diffs, pages }),
    vscode.workspace.onDidChangeConfiguration((e) => {
      if (e.affectsConfiguration('ralph.server')) void restartWhenAllowed(server, loops);
    }),
  );
  void server.restart();
  return { sidecar: server, loops };
}

/** A setting interrupts no loop unless the user agrees. */
async function restartWhenAllowed(server: Sidecar, loops: Loops): Promise<void> {
  if (loops.status.some((l) => l.live && l.owned)) {
    const restart = t('Restart Server');
    const question = t('Another Ralph server is set. Restart now? That interrupts what runs; otherwise it is taken with the next start.');
    if ((await vscode.window.showWarningMessage(question, t('Later'), restart)) !== restart) return;
  }
  await server.restart();
}

export function deactivate(): Promise<void> | undefined {
  return sidecar?.dispose();
}
