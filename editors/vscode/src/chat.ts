// Loops in VS Code's chat: @ralph for its user, and tools for its models. What a model wants to start or to
// tell an agent, its user sees and allows first.
import * as vscode from 'vscode';
import { outside } from './binary';
import type { Changes } from './changes';
import { chooseFolder } from './choose';
import type { Composer } from './composer';
import * as config from './config';
import { t } from './l10n';
import type { Loops } from './loops';
import { CommandError, type Sidecar } from './sidecar';
import type { Starter } from './start';
import { isSlash, type CommandId, type LoopResult, type LoopStatus, type StartParams, type ToolResult } from './wire';

interface Parts { sidecar: Sidecar; loops: Loops; starter: Starter; composer: Composer; changes: Changes }

/** The tools' names; all that they say and may is the sidecar's. */
const tools = ['ralph_start', 'ralph_status', 'ralph_steer', 'ralph_changes'];

export class Chat {
  constructor(private readonly parts: Parts) {}

  /** Tells the editor of the participant and the tools. */
  register(): vscode.Disposable {
    const participant = vscode.chat.createChatParticipant('ralph.chat', (request, _, stream, token) => this.answer(request, stream, token));
    participant.iconPath = new vscode.ThemeIcon('sync');
    return vscode.Disposable.from(participant, ...tools.map((name) => vscode.lm.registerTool<object>(name, {
      prepareInvocation: async ({ input }) => ({ confirmationMessages: await this.question(name, input) }),
      invoke: async ({ input }) => new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(await this.tool(name, input))]),
    })));
  }

  /** What the user is asked before a tool does something. */
  async question(name: string, input: object): Promise<vscode.LanguageModelToolConfirmationMessages | undefined> {
    const { title, text } = await this.look(name, input);
    return title === undefined ? undefined : { title, message: plain(text) };
  }

  /** Does what a model asked for and its user agreed to. */
  async tool(name: string, input: object): Promise<string> {
    const { text, offers: [offer] = [], done } = await this.look(name, input);
    if (!offer) return text;
    const argument = offer.arguments?.[0] ?? {};
    if (offer.command !== 'ralph.loop.start') return (await this.parts.sidecar.execute<LoopResult>(offer.command as CommandId, argument)).text ?? done ?? '';
    const { loopId } = await this.start(argument);
    return `${loopId}: ${done}`;
  }

  private async look(name: string, input: object): Promise<ToolResult> {
    const { folder: named } = input as { folder?: string };
    const folder = name === 'ralph_start' && !named ? await chooseFolder(undefined, vscode.window.activeTextEditor?.document.uri) : undefined;
    return this.parts.sidecar.execute<ToolResult>('ralph.tool', { name, input, settings: config.choices(folder), ...(folder && { folders: [folder.toString()] }) });
  }

  /** Answers what the user wrote to @ralph. What fails is said, with what helps. */
  async answer(request: Pick<vscode.ChatRequest, 'command' | 'prompt' | 'references'>, stream: vscode.ChatResponseStream, token: vscode.CancellationToken): Promise<void> {
    const text = [request.prompt, ...request.references.flatMap(({ value }) => (value instanceof vscode.Uri ? [`@${vscode.workspace.asRelativePath(value, false)}`] : []))].join(' ').trim();
    const live = (await this.parts.loops.current()).find((l) => l.live);
    try {
      switch (request.command ?? (live ? 'steer' : 'start')) {
        case 'status': return void stream.markdown(plain(await this.tool('ralph_status', {})));
        case 'changes': return await this.showChanges(await this.loop(), stream);
        case 'steer': return void stream.markdown(plain(await this.talk(text)));
        default: {
          if (!text) return void stream.button({ title: t('Start a loop...'), command: 'ralph.start' });
          const would = await this.parts.starter.dryRun({ prompt: text });
          if (would && !isSlash(would)) stream.markdown(plain(would.text));
          return await this.follow((await this.start({ prompt: text })).loopId, stream, token);
        }
      }
    } catch (e) {
      stream.markdown(plain(e instanceof Error ? e.message : String(e)));
      for (const offer of (e instanceof CommandError && e.data?.offers) || []) stream.button(offer);
    }
  }

  private async start(argument: StartParams): Promise<{ loopId: string }> {
    const started = await this.parts.starter.start(argument);
    if (!started) throw new Error(t('nothing has started'));
    return started;
  }

  /** Shows how a loop does until it is over, or until nobody wants to know; that ends no loop. */
  private async follow(loopId: string, stream: vscode.ChatResponseStream, token: vscode.CancellationToken): Promise<void> {
    const { loops } = this.parts;
    await loops.known(loopId);
    let last = '';
    await new Promise<void>((done) => {
      const listening = vscode.Disposable.from(loops.onChange(() => look()), token.onCancellationRequested(() => look()));
      const look = () => {
        const now = loops.byId(loopId);
        if (now?.line && now.line !== last) stream.progress((last = now.line));
        if (now?.live && !token.isCancellationRequested) return;
        listening.dispose();
        done();
      };
      look();
    });
    const now = loops.byId(loopId);
    stream.markdown(plain(now ? await this.tool('ralph_status', { loopId }) : t('That Ralph loop is not there any more.')));
    if (now) stream.button({ title: t('Show output'), command: 'ralph.showOutput', arguments: [{ loopId }] });
    if (now && !now.live) await this.showChanges(now, stream);
  }

  private async showChanges(loop: LoopStatus, stream: vscode.ChatResponseStream): Promise<void> {
    const { text, files } = await this.parts.changes.of({ loopId: loop.loopId, folder: loop.folder });
    stream.markdown(plain(`\n\n${text}\n\n`));
    for (const file of files) stream.reference(vscode.Uri.parse(file.uri));
    if (files.length > 0) stream.button({ title: t('Open changes'), command: 'ralph.openChanges', arguments: [{ loopId: loop.loopId, folder: loop.folder }] });
  }

  /** Does with words what Return does in the box below a transcript. */
  private async talk(text: string): Promise<string> {
    const loop = await this.loop();
    const [talk] = this.parts.composer.talksOf(loop);
    if (!talk || !text || !(await this.parts.composer.send({ loopId: loop.loopId, folder: loop.folder }, talk.title, text))) throw new Error(t('That loop can be told nothing now.'));
    return `${talk.title}: ${text}`;
  }

  /** The live loop, else the last. */
  private async loop(): Promise<LoopStatus> {
    const all = await this.parts.loops.current();
    const found = all.find((l) => l.live) ?? all[0];
    if (!found) throw new Error(t('There is no Ralph loop to do that with.'));
    return found;
  }
}

/** Lets the editor's agents have the tools by the Model Context Protocol, where it is new enough to ask for that. */
export function offerMcp(sidecar: Sidecar, subscriptions: vscode.Disposable[]): McpProvider | undefined {
  const lm = vscode.lm as typeof vscode.lm & Partial<McpHost>;
  const { McpStdioServerDefinition: Definition } = vscode as unknown as { McpStdioServerDefinition?: McpDefinition };
  if (!lm.registerMcpServerDefinitionProvider || !Definition || isBefore(1, 101)) return undefined; // 1.100 has it for extensions of its own
  const provider: McpProvider = {
    provideMcpServerDefinitions: async () => {
      const { path, version } = await sidecar.find();
      const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
      const server = new Definition('Ralph', path, ['mcp', ...folder ? ['-C', folder] : []], {}, version);
      server.cwd = vscode.Uri.file(outside);
      return [server];
    },
  };
  subscriptions.push(lm.registerMcpServerDefinitionProvider('ralph.mcp', provider));
  return provider;
}

function isBefore(major: number, minor: number): boolean {
  const [isMajor = 0, isMinor = 0] = vscode.version.split('.').map(Number);
  return isMajor < major || isMajor === major && isMinor < minor;
}

/** What VS Code has of it since 1.101. */
type McpDefinition = new (label: string, command: string, args: string[], env: Record<string, string>, version: string) => { cwd?: vscode.Uri };
export interface McpProvider { provideMcpServerDefinitions(): Promise<object[]> }
interface McpHost { registerMcpServerDefinitionProvider(id: string, provider: McpProvider): vscode.Disposable }

/** A text that is shown as it is, line by line. */
const plain = (text: string): vscode.MarkdownString => new vscode.MarkdownString(text.replace(/[\\`*_{}[\]()#+\-.!<>|~]/g, '\\$&').replaceAll('\n', '  \n'));
