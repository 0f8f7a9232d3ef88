// Loops in VS Code's chat: @ralph for its user, and tools for its models. What a model wants to start or to
// tell an agent, its user sees and allows first.
import * as vscode from 'vscode';
import type { Changes } from './changes';
import type { Composer } from './composer';
import { t } from './l10n';
import type { Loops } from './loops';
import { CommandError } from './sidecar';
import type { StartArgument, Starter } from './start';
import { isSlash, type LoopParams, type LoopStatus } from './wire';

type StartInput = Pick<StartArgument, 'prompt' | 'maxIterations' | 'completionPromise' | 'verify'>;
interface Tool { ask?(input: object): Promise<vscode.LanguageModelToolConfirmationMessages>; run(input: object): Promise<string> }
interface Parts { loops: Loops; starter: Starter; composer: Composer; changes: Changes }

export class Chat {
  readonly tools: Record<string, Tool> = {
    ralph_start: { ask: (input) => this.askToStart(input), run: async (input) => `${(await this.start(input)).loopId} has started. ralph_status tells how it does.` },
    ralph_status: { run: async () => (await this.parts.loops.current()).map(told).join('\n\n') || 'no loop here' },
    ralph_steer: { ask: (input) => this.askToSteer(input as LoopParams & { text: string }), run: (input) => this.talk(input as LoopParams & { text: string }) },
    ralph_changes: { run: async (input) => this.changed(await this.loop(input)) },
  };

  constructor(private readonly parts: Parts) {}

  /** Tells the editor of the participant and the tools. */
  register(): vscode.Disposable {
    const participant = vscode.chat.createChatParticipant('ralph.chat', (request, _, stream, token) => this.answer(request, stream, token));
    participant.iconPath = new vscode.ThemeIcon('sync');
    return vscode.Disposable.from(participant, ...Object.entries(this.tools).map(([name, tool]) => vscode.lm.registerTool<object>(name, {
      prepareInvocation: async ({ input }) => tool.ask && { confirmationMessages: await tool.ask(input) },
      invoke: async ({ input }) => new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(await tool.run(input))]),
    })));
  }

  /** Answers what the user wrote to @ralph. What fails is said, with what helps. */
  async answer(request: Pick<vscode.ChatRequest, 'command' | 'prompt' | 'references'>, stream: vscode.ChatResponseStream, token: vscode.CancellationToken): Promise<void> {
    const text = [request.prompt, ...request.references.flatMap(({ value }) => (value instanceof vscode.Uri ? [`@${vscode.workspace.asRelativePath(value, false)}`] : []))].join(' ').trim();
    const live = (await this.parts.loops.current()).find((l) => l.live);
    try {
      switch (request.command ?? (live ? 'steer' : 'start')) {
        case 'status': return void stream.markdown(plain((await this.tools.ralph_status!.run({})) || t('No loop has run here yet.')));
        case 'changes': return await this.showChanges(await this.loop({}), stream);
        case 'steer': return void stream.markdown(plain(await this.talk({ text })));
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

  private async start(input: StartInput): Promise<{ loopId: string }> {
    const started = await this.parts.starter.start(startOf(input));
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
    stream.markdown(plain(now ? told(now) : t('That Ralph loop is not there any more.')));
    if (now) stream.button({ title: t('Show output'), command: 'ralph.showOutput', arguments: [{ loopId }] });
    if (now && !now.live) await this.showChanges(now, stream);
  }

  private async showChanges(loop: LoopStatus, stream: vscode.ChatResponseStream): Promise<void> {
    const { text, files } = await this.parts.changes.of({ loopId: loop.loopId, folder: loop.folder });
    stream.markdown(plain(`\n\n${text}\n\n`));
    for (const file of files) stream.reference(vscode.Uri.parse(file.uri));
    if (files.length > 0) stream.button({ title: t('Open changes'), command: 'ralph.openChanges', arguments: [{ loopId: loop.loopId, folder: loop.folder }] });
  }

  private async changed(loop: LoopStatus): Promise<string> {
    const { text, files } = await this.parts.changes.of({ loopId: loop.loopId, folder: loop.folder });
    return [text, ...files.map((f) => `${f.path}: ${f.status}, ${f.text}`)].join('\n');
  }

  /** Does with words what Return does in the box below a transcript. */
  private async talk({ text, ...of }: LoopParams & { text: string }): Promise<string> {
    const loop = await this.loop(of);
    const [talk] = this.parts.composer.talksOf(loop);
    if (!talk || !text || !(await this.parts.composer.send({ loopId: loop.loopId, folder: loop.folder }, talk.title, text))) throw new Error(t('That loop can be told nothing now.'));
    return `${talk.title}: ${text}`;
  }

  private async askToStart(input: StartInput): Promise<vscode.LanguageModelToolConfirmationMessages> {
    const would = await this.parts.starter.dryRun(startOf(input));
    if (!would || isSlash(would)) throw new Error('prompt is a command and no prompt');
    const rows = [...would.details.map((d) => `${d.label}: ${d.text}`), ...would.warnings ?? []];
    return { title: t('Start a Ralph loop?'), message: plain([input.prompt, '', would.text, ...rows].join('\n')) };
  }

  private async askToSteer({ text, ...of }: LoopParams & { text: string }): Promise<vscode.LanguageModelToolConfirmationMessages> {
    const loop = await this.loop(of);
    return { title: t('Tell the loop "{0}"?', loop.title), message: plain(text) };
  }

  /** The loop that is named, else the live one, else the last. */
  private async loop({ loopId }: LoopParams): Promise<LoopStatus> {
    const all = await this.parts.loops.current();
    const found = loopId ? all.find((l) => l.loopId === loopId) : all.find((l) => l.live) ?? all[0];
    if (!found) throw new Error(t('There is no Ralph loop to do that with.'));
    return found;
  }
}

/** A start with what a model may say of it and no more: no trust, no permissions, no walls. */
function startOf({ prompt, maxIterations, completionPromise, verify }: StartInput): StartInput {
  if (!prompt?.trim()) throw new Error('prompt is missing');
  return { prompt, maxIterations, completionPromise, verify };
}

/** All that there is to know of a loop, in lines. */
function told(loop: LoopStatus): string {
  const rows = [...loop.details ?? [], ...(loop.questions ?? []).map((q) => ({ label: t('asks its user'), text: q.text }))];
  return [`${loop.title} (${loop.loopId}): ${loop.line ?? loop.text ?? loop.state}`, ...rows.map((d) => `${d.label}: ${d.text}`)].join('\n');
}

/** A text that is shown as it is, line by line. */
const plain = (text: string): vscode.MarkdownString => new vscode.MarkdownString(text.replace(/[\\`*_{}[\]()#+\-.!<>|~]/g, '\\$&').replaceAll('\n', '  \n'));
