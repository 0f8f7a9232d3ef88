// One loop's transcript on a page.
import * as vscode from 'vscode';
import { partRows } from '../../webview/rows';
import { buttonsOf, canOf } from '../can';
import type { Composer } from '../composer';
import * as config from '../config';
import { t } from '../l10n';
import type { Loops } from '../loops';
import { mention, showError } from '../notifications';
import { pick } from '../pick';
import type { Sidecar } from '../sidecar';
import type { LoopParams } from '../wire';
import { Log } from './log';
import { rowsOf } from './loopRows';
import { readMessage, type FromPage, type Place, type ToPage } from './messages';
import { pageOf } from './page';
import { fileIn } from './paths';
import type { Surface } from './surface';
import { words } from './words';

export type Loop = LoopParams & { loopId: string; title: string };

/** What all transcripts have in common. */
export interface Parts {
  readonly extension: vscode.Uri;
  readonly sidecar: Sidecar;
  readonly loops: Loops;
  readonly composer: Composer;
  /** What is being written, by loop id. */
  readonly drafts: Map<string, string>;
  choose(loopId: string): void;
  openTab(loop: Loop): void;
}

export class Panel implements vscode.Disposable {
  private readonly log: Log;
  private readonly subscriptions: vscode.Disposable[];
  private generation = 0;
  /** The page is there and listens. */
  private isReady = false;
  /** The log of a loop that nobody knew could not be read. */
  private hasFailed = false;
  private goal: Place | undefined;
  private status = '';
  private stands = '';
  private rows = '';
  private search = 0;

  constructor(private readonly surface: Surface, readonly loop: Loop, private readonly parts: Parts) {
    const { sidecar, loops, extension } = parts;
    const folder = loops.byId(loop.loopId)?.host ? undefined : loop.folder ?? loops.folderOf(loop.loopId);
    const root = folder ? vscode.Uri.parse(folder) : undefined;
    const files = root && surface.webview.asWebviewUri(root).toString();
    this.log = new Log(sidecar, loop.loopId, {
      opened: (parts, iterations) => {
        const showsEnd = !this.goal && parts.length > 0;
        this.post({ type: 'open', generation: ++this.generation, ...this.loop, files, words: words(), isPanel: surface.isPanel, draft: this.parts.drafts.get(loop.loopId), thinking: config.showThinking(), parts, iterations, reveal: this.goal });
        this.goal = undefined;
        if (showsEnd) void this.sendPart(this.generation, parts.length - 1).catch((e: unknown) => void showError(e)); // before it asks
      },
      tail: (updates, live, complete) => this.post({ type: 'tail', generation: this.generation, updates, live, complete }),
      failed: (text) => {
        this.hasFailed = !this.parts.loops.byId(loop.loopId);
        this.post({ type: 'failed', text });
      },
    });
    this.subscriptions = [
      surface.webview.onDidReceiveMessage((m: unknown) => {
        const message = readMessage(m);
        if (message && (this.isReady || message.type === 'ready')) this.take(message).catch((e: unknown) => void showError(e));
      }),
      surface.onSeen(() => this.seen()),
      sidecar.onUpdate((p) => this.isReady && this.log.take(p)),
      sidecar.onServer((server) => server.state === 'running' && this.isReady && void this.open()),
      loops.onChange(() => {
        if (this.isReady && this.hasFailed && loops.byId(loop.loopId)) void this.open(); // a bus tells of its loops later
        this.tellStatus();
      }),
      vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration('ralph.transcript.thinking') && this.isReady && void this.open()),
    ];
    surface.webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(extension, 'dist'), ...(root ? [root] : [])] };
    surface.webview.html = pageOf(surface.webview, extension);
    this.seen();
  }

  /** Goes to a place, now or when the page is there. */
  reveal(place: Place): void {
    if (this.isReady) this.post({ type: 'reveal', place });
    else this.goal = place;
  }

  /** Tells the page that somebody is there: without that it says that what it shows is old. */
  beat(): void {
    if (this.isReady) this.post({ type: 'alive' });
  }

  /** Goes to what is newest. */
  toEnd(): void {
    this.post({ type: 'do', what: 'end' });
  }

  find(): void {
    this.post({ type: 'do', what: 'find' });
  }

  dispose(): void {
    this.isReady = false;
    this.log.close();
    this.parts.sidecar.watch(this, false);
    for (const d of this.subscriptions) d.dispose();
  }

  /** Lets the user pick an iteration to go to. */
  async pick(): Promise<void> {
    const items = [...this.log.iterations.values()].sort((a, b) => b.iteration - a.iteration)
      .map((i) => ({ label: t('Iteration {0}', i.iteration), description: i.phase === 'begin' ? t('running') : i.text, iteration: i.iteration }));
    const picked = await pick(items, { title: this.loop.title, placeHolder: t('Go to Iteration...'), matchOnDescription: true });
    if (!picked) return;
    this.surface.show(false);
    this.reveal({ iteration: picked.iteration });
  }

  private open(): Promise<void> {
    this.hasFailed = false;
    return this.log.open();
  }

  private post(m: ToPage): void {
    void this.surface.webview.postMessage(m);
  }

  /** A page that nobody sees is gone, and comes again as a new one. */
  private seen(): void {
    const isSeen = this.surface.visible;
    this.parts.sidecar.watch(this, isSeen);
    if (isSeen && !this.isReady) this.log.prepare();
    if (isSeen) return;
    this.isReady = false;
    this.log.close();
  }

  private tellStatus(): void {
    if (!this.isReady) return;
    const { loopId } = this.loop;
    const now = this.parts.loops.byId(loopId);
    const past = this.parts.loops.past.find((p) => p.loopId === loopId);
    const status: ToPage = { type: 'status', title: this.loop.title, text: now?.line ?? past?.text ?? '', busy: now?.busy ?? false, toolStartedAt: now?.tool?.startedAt, can: now ? canOf(now) : [], buttons: buttonsOf(now ?? past), questions: now?.questions ?? [], talks: this.parts.composer.talksOf(this.loop).map(({ title, hint }) => ({ title, hint })) };
    this.tellLoops();
    const key = JSON.stringify(status);
    if (key === this.status) return;
    this.status = key;
    this.post(status);
    const stands = JSON.stringify([status.talks, now?.state, now?.details?.filter((d) => d.label === 'Limits'), now?.can]);
    if (stands !== this.stands) void this.tellChips();
    this.stands = stands;
  }

  /** Tells a panel which loops there are; a tab is its loop's. */
  private tellLoops(): void {
    if (!this.surface.isPanel) return;
    const rows = rowsOf(this.parts.loops.status, this.loop.loopId);
    const key = JSON.stringify(rows);
    if (key !== this.rows) this.post({ type: 'loops', loops: rows });
    this.rows = key;
  }

  private async tellChips(): Promise<void> {
    this.post({ type: 'chips', chips: await this.parts.composer.chips(this.loop).catch(() => []) }); // why one can't start, the start says
  }

  private async take(m: FromPage): Promise<void> {
    switch (m.type) {
      case 'ready':
        this.isReady = true;
        this.status = this.stands = this.rows = '';
        this.tellStatus();
        return this.open();
      case 'want': return this.sendPart(m.generation, m.index);
      case 'open': return this.openFile(m.path, m.line, m.column);
      case 'web': return void (await vscode.env.openExternal(vscode.Uri.parse(m.address, true))); // the editor asks where it isn't trusted
      case 'offer': return void (await vscode.commands.executeCommand(m.offer.command, ...(m.offer.arguments ?? [])));
      case 'changes': return void (await vscode.commands.executeCommand('ralph.openChanges', { ...this.loop, iteration: m.iteration }));
      case 'output': return this.openOutput(m.iteration, m.toolCallId);
      case 'find': return this.findAll(m.search, m.text);
      case 'act': return this.act(m.command);
      case 'choose': return this.parts.choose(m.loopId);
      case 'draft': return void this.parts.drafts.set(this.loop.loopId, m.text);
      case 'asTab': return this.parts.openTab(this.loop);
      case 'talk': return void ((await this.parts.composer.send(this.loop, m.title, m.text)) && this.post({ type: 'sent', text: m.text }));
      case 'chip': return this.parts.composer.change(this.loop, m.label).then(() => this.tellChips());
      case 'mention': return this.post({ type: 'mentions', id: m.id, paths: await this.parts.composer.mentions(this.loop, m.text) });
      case 'selection': return this.addSelection();
      case 'asText': return void (await vscode.commands.executeCommand('ralph.transcript.openAsText', this.loop));
      case 'goTo': return this.pick();
    }
  }

  /** Does what a button of the page is for, with this loop; it may be over meanwhile. */
  private async act(asked: string): Promise<void> {
    const { loopId, folder } = this.loop;
    const button = buttonsOf(this.parts.loops.named(loopId)).find((b) => b.command === asked);
    if (button) await vscode.commands.executeCommand(button.command, { loopId, folder });
  }

  private addSelection(): void {
    const text = this.parts.composer.selection(this.loop);
    if (text) this.post({ type: 'insert', text });
    else mention(t('nothing is selected in an editor'));
  }

  private async sendPart(generation: number, index: number): Promise<void> {
    if (generation !== this.generation) return;
    const updates = await this.log.part(index);
    if (updates) this.post({ type: 'part', generation, index, updates });
  }

  /** Opens a file of the loop's folder, or of its origin; any other is none of its business. */
  private async openFile(path: string, line = 1, column = 1): Promise<void> {
    const { host, origin } = this.parts.loops.byId(this.loop.loopId) ?? {};
    const folder = host ? origin : this.loop.folder ?? this.parts.loops.folderOf(this.loop.loopId);
    const file = folder && (await fileIn(vscode.Uri.parse(folder).fsPath, path));
    if (!file) return mention(host ? t('{0} is on {1}; what the loop changed can be opened', path, host) : t('{0} is no file of the folder', path));
    if (host) mention(t('{0} as it is here; {1} has its own', vscode.workspace.asRelativePath(file), host));
    const at = new vscode.Position(Math.max(0, line - 1), Math.max(0, column - 1));
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(file), { selection: new vscode.Range(at, at) }); // which knows pictures
  }

  private async openOutput(iteration: number, toolCallId: string): Promise<void> {
    const { loopId, folder } = this.loop;
    const { uri, text } = await this.parts.sidecar.execute<{ uri: string; text: string }>('ralph.loop.output', { loopId, folder, iteration, toolCallId });
    await vscode.window.showTextDocument(vscode.Uri.parse(uri), { preview: true });
    mention(text);
  }

  /** Looks through all parts; a newer search ends it. */
  private async findAll(search: number, text: string): Promise<void> {
    this.search = search;
    const { generation } = this;
    for (let index = 0; index < this.log.partCount; index++) {
      const updates = await this.log.part(index);
      if (this.search !== search || this.generation !== generation || !this.isReady) return;
      const hits = partRows(this.log.iterationAt(index), updates ?? [], text, config.showThinking()).map((row): [number, number] => [index, row]);
      if (hits.length > 0) this.post({ type: 'found', search, hits, done: false });
    }
    this.post({ type: 'found', search, hits: [], done: true });
  }
}
