import * as vscode from 'vscode';
import { AgentHost } from './agentHost';
import { registerCommands } from './commands';
import { Chat, offerMcp, type McpProvider } from './chat';
import { Comments } from './comments';
import { Composer } from './composer';
import * as config from './config';
import { keepContextKeys, reached } from './contextKeys';
import { Changes } from './changes';
import { Diffs } from './diffs';
import { t, useTranslation } from './l10n';
import { Loops } from './loops';
import { Notifications } from './notifications';
import { Pages } from './pages';
import { Panels } from './panel/panels';
import { Questions } from './questions';
import { Drafts } from './drafts';
import { createMentions } from './mentions';
import { PromptEditor } from './prompt';
import { agentsOf, StartOptions } from './startOptions';
import { Review } from './review';
import { Sidecar } from './sidecar';
import { Snapshots } from './snapshots';
import { SourceControls } from './sourceControl';
import { Starter } from './start';
import { createStatusBar } from './statusBar';
import { keepNew } from './transcript';
import { createTree } from './tree';

let sidecar: Sidecar | undefined;
let agentHost: AgentHost | undefined;

/** What other extensions get; the tests are one. */
export interface Api { sidecar: Sidecar; loops: Loops; changes: Changes; snapshots: Snapshots; sourceControls: SourceControls; comments: Comments; chat: Chat; mcp?: McpProvider }

export function activate(context: vscode.ExtensionContext): Api | undefined {
  useTranslation(vscode.l10n.t);
  if (vscode.workspace.isTrusted) return start(context);
  const waiting = untrusted(context);
  context.subscriptions.push(waiting, vscode.workspace.onDidGrantWorkspaceTrust(() => {
    waiting.dispose();
    start(context);
  }));
  return undefined;
}

/** What a folder that isn't trusted has: commands that lead to the trust. The view, still without a tree, says why. */
function untrusted({ extension }: vscode.ExtensionContext): vscode.Disposable {
  const { contributes } = extension.packageJSON as { contributes: { commands: { command: string }[] } };
  const ask = () => vscode.commands.executeCommand('workbench.trust.manage');
  return vscode.Disposable.from(
    ...contributes.commands.map(({ command }) => vscode.commands.registerCommand(command, ask)),
  );
}

function start(context: vscode.ExtensionContext): Api {
  const log = vscode.window.createOutputChannel('Ralph', { log: true });
  const server = new Sidecar(context.extensionPath, log);
  sidecar = server;
  const loops = new Loops(server);
  const drafts = new Drafts(context.workspaceState);
  const options = new StartOptions(server);
  const prompts = new PromptEditor(server, loops, drafts, options);
  const starter = new Starter(server, context.workspaceState, drafts, prompts, options, (loop) => {
    if (!config.openOnStart()) return;
    void loops.known(loop.loopId).then(() => panels.show(loop, true)); // its title comes with its status
  });
  const composer = new Composer(server, loops, starter);
  const panels = new Panels(context, server, loops, composer);
  const changes = new Changes(server);
  const snapshots = new Snapshots(server, changes);
  const sourceControls = new SourceControls(changes, snapshots);
  const comments = new Comments(changes, snapshots, composer);
  const pages = new Pages(server);
  const questions = new Questions(server, loops, (loop) => panels.show(loop)?.toEnd());
  const host = new AgentHost(server, context.globalStorageUri);
  agentHost = host;
  const mcp = offerMcp(server, context.subscriptions);
  const chat = new Chat({ sidecar: server, loops, starter, composer, changes });
  context.subscriptions.push(
    chat.register(), log, loops, keepNew(server), panels, composer, comments, changes, snapshots, sourceControls, pages, questions, drafts, prompts, createMentions(),
    createStatusBar(loops), createTree(loops, changes), keepContextKeys(loops), new Notifications(server, loops),
    vscode.workspace.onDidSaveTextDocument((document) => server.saved(document)),
    registerCommands({
      sidecar: server, agentHost: host, loops, starter, options, panels, comments, pages, questions, sourceControls, diffs: new Diffs(changes, snapshots), review: new Review(server, changes),
    }),
    server.onServer((s) => s.state === 'running' && void lookForAgent(server)),
    vscode.window.onDidCloseTerminal(() => void lookForAgent(server)), // one may have been installed there
    vscode.window.onDidChangeWindowState((w) => w.focused && void lookForAgent(server)),
    vscode.workspace.onDidOpenTextDocument(colour),
    vscode.workspace.onDidChangeConfiguration((e) => {
      if (e.affectsConfiguration('ralph.server') || e.affectsConfiguration('ralph.fleet')) void restartWhenAllowed(server, loops);
    }),
  );
  vscode.workspace.textDocuments.forEach(colour);
  void server.restart();
  return { sidecar: server, loops, changes, snapshots, sourceControls, comments, chat, mcp };
}

let hasAgent = false;

/** Ticks off the walkthrough's first step for a user who has an agent. */
async function lookForAgent(server: Sidecar): Promise<void> {
  if (hasAgent || server.state.state !== 'running') return;
  const agents = await agentsOf(server).catch(() => []);
  hasAgent = agents.some((a) => a.installed);
  if (hasAgent) reached('hasAgent');
}

/** Gives a ralph.toml colours that no other extension gives it: theirs know more of TOML. */
function colour(document: vscode.TextDocument): void {
  if (document.languageId === 'plaintext' && document.uri.path.endsWith('/ralph.toml')) void vscode.languages.setTextDocumentLanguage(document, 'ralph-toml');
}

/** A setting interrupts no loop unless the user agrees. */
async function restartWhenAllowed(server: Sidecar, loops: Loops): Promise<void> {
  if (loops.status.some((l) => l.live && l.owned)) {
    const restart = t('Restart Server');
    const question = t('Another Ralph server is set. Restart now? If it does not come up, what runs is interrupted; otherwise it is taken with the next start.');
    if ((await vscode.window.showWarningMessage(question, t('Later'), restart)) !== restart) return;
  }
  await server.restart();
}

export async function deactivate(): Promise<void> {
  await Promise.all([agentHost?.dispose(), sidecar?.dispose()]);
}
