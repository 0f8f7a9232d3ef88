// The sidecar as the rest of the extension sees it: started, watched, restarted.
import type { ChildProcess } from 'node:child_process';
import * as vscode from 'vscode';
import { State, type LanguageClient } from 'vscode-languageclient/node';
import { findBinary, findFleet, NoBinaryError, type Binary } from './binary';
import { newClient } from './client';
import * as config from './config';
import { Diagnoses } from './diagnostics';
import { t } from './l10n';
import { Restarts } from './restarts';
import type { Server } from './statusText';
import { type CommandId, method, type DiagnosticsParams, type ErrorData, type Question, type StatusParams, type UpdateLevel, type UpdateParams } from './wire';

/**
 * How long a sidecar may take to end, in milliseconds; 2 s later it is killed. VS Code gives a window that goes 5 s:
 * what is still at it then isn't killed, but ends because nobody is there.
 */
const stopLimit = 4500;

/** A command that the sidecar refused, with its reason. */
export class CommandError extends Error {
  constructor(message: string, readonly data: ErrorData) {
    super(message);
  }
}

/** A sidecar that didn't answer; starting it again would not help. */
class NoAnswerError extends Error {}

export class Sidecar implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private server: Server = { state: 'stopped' };
  private level: UpdateLevel = 'tools';
  private readonly watchers = new Set<object>();
  private readonly restarts = new Restarts();
  /** The starts and stops, one after another. */
  private work: Promise<void> = Promise.resolve();
  private queued: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private disposed = false;
  /** Ends the waiting for a server that is being started. */
  private attempt = new AbortController();
  /** How long a server may take to answer initialize, in milliseconds: longer than a busy machine needs. */
  answerLimit = 60_000;

  private readonly serverEmitter = new vscode.EventEmitter<Server>();
  private readonly statusEmitter = new vscode.EventEmitter<StatusParams>();
  private readonly updateEmitter = new vscode.EventEmitter<UpdateParams>();
  readonly onServer = this.serverEmitter.event;
  readonly onStatus = this.statusEmitter.event;
  readonly onUpdate = this.updateEmitter.event;

  readonly diagnoses = new Diagnoses();
  /** Asks the user what an agent waits to be told; null: that isn't answered here. */
  permissions: (question: Question, token: vscode.CancellationToken) => Promise<null> = () => Promise.resolve(null);

  constructor(private readonly extensionPath: string, readonly log: vscode.LogOutputChannel) {}

  get state(): Server {
    return this.server;
  }

  /** Process id of the running sidecar. */
  get pid(): number | undefined {
    return processOf(this.client)?.pid;
  }

  /** Starts, or restarts; a request while one waits joins it. */
  restart(): Promise<void> {
    this.restarts.reset();
    this.attempt.abort();
    this.queued ??= this.enqueue(async () => {
      this.queued = undefined;
      await this.stop();
      await this.start();
    });
    return this.queued;
  }

  /** Runs one of the server's commands, once a server that is being started is there. */
  async execute<T>(id: CommandId, argument: object = {}): Promise<T> {
    await this.settled();
    if (!this.client || this.server.state !== 'running') {
      throw new CommandError(this.server.state === 'failed' ? this.server.reason : t('the Ralph server is not running'), {});
    }
    try {
      return await this.client.sendRequest<T>('workspace/executeCommand', { command: id, arguments: [argument] });
    } catch (e) {
      const failure = e as { message?: string; data?: ErrorData };
      throw new CommandError(failure.message ?? String(e), failure.data ?? {});
    }
  }

  /** Resolves when no start is under way, not even one that waits for its time. */
  async settled(): Promise<void> {
    for (await this.work; this.server.state === 'starting' && !this.disposed; await this.work) {
      await new Promise<void>((resolve) => {
        const changed = this.serverEmitter.event(() => resolve(changed.dispose()));
      });
    }
  }

  /** Says whether somebody shows the agent's text, also of sidecars to come: it is sent only then. */
  watch(who: object, watches: boolean): void {
    if (watches) this.watchers.add(who);
    else this.watchers.delete(who);
    const level = this.watchers.size > 0 ? 'all' : 'tools';
    if (level === this.level) return;
    this.level = level;
    this.tellLevel();
  }

  /** Ends the sidecar. Its loops go on for a moment, in which another one may have them. */
  async dispose(): Promise<void> {
    this.disposed = true;
    this.attempt.abort();
    clearTimeout(this.timer);
    await this.enqueue(() => this.stop());
    for (const e of [this.serverEmitter, this.statusEmitter, this.updateEmitter, this.diagnoses]) e.dispose();
  }

  private enqueue(job: () => Promise<void>): Promise<void> {
    const done = this.work.then(job);
    this.work = done.catch((e: unknown) => this.log.error(String(e)));
    return this.work;
  }

  private become(server: Server): void {
    this.server = server;
    this.serverEmitter.fire(server);
  }

  private async start(): Promise<void> {
    if (this.disposed || this.queued) return;
    clearTimeout(this.timer);
    this.attempt = new AbortController();
    this.become({ state: 'starting' });
    try {
      const { binary, env, warning } = await this.program();
      this.log.info(`starting ${binary.path}, version ${binary.version}`);
      await this.connect(newClient(binary, env, this.log, this.diagnoses), binary.path);
      this.become({ state: 'running', warning });
      this.tellLevel();
    } catch (e) {
      const reason = e instanceof Error ? e.message : String(e);
      this.log.error(reason);
      if (this.client && !(e instanceof NoAnswerError)) return this.ended(reason);
      this.abandon();
      if (!this.attempt.signal.aborted) this.become({ state: 'failed', reason });
    }
  }

  private async connect(client: LanguageClient, program: string): Promise<void> {
    this.client = client;
    client.onNotification(method.status, (p: StatusParams) => this.statusEmitter.fire(p));
    client.onNotification(method.update, (p: UpdateParams) => this.updateEmitter.fire(p));
    client.onRequest(method.diagnostics, (p: DiagnosticsParams, token) => this.diagnoses.answer(p, token));
    client.onRequest(method.permission, (q: Question, token) => this.permissions(q, token));
    await this.answered(client.start(), program);
    client.onDidChangeState((e) => {
      if (e.newState === State.Stopped && this.client === client) void this.enqueue(() => this.ended(t('the Ralph server ended')));
    });
  }

  /** The ralph-lsp that the settings, the extension or PATH have. */
  find(): Promise<Binary> {
    return findBinary({
      setting: config.serverPath(), extension: this.extensionPath, searchPath: process.env.PATH ?? '', folder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
    });
  }

  /** What is to run: with a bus ralph-fleet, which has its loops too. Without that, loops of this machine run all the same. */
  private async program(): Promise<{ binary: Binary; env: Record<string, string>; warning?: string }> {
    const binary = await this.find();
    const bus = config.fleetBus();
    if (!bus) return { binary, env: {} };
    try {
      return { binary: await findFleet(binary, process.env.PATH ?? ''), env: { RALPH_BUS: bus } };
    } catch (e) {
      if (!(e instanceof NoBinaryError)) throw e;
      this.log.warn(e.message);
      return { binary, env: {}, warning: e.message };
    }
  }

  /** Waits for a start, but neither too long nor when another one is wanted. */
  private async answered(start: Promise<void>, program: string): Promise<void> {
    const { signal } = this.attempt;
    let timer: NodeJS.Timeout | undefined;
    const givenUp = new Promise<never>((_, reject) => {
      const giveUp = (reason: string) => reject(new NoAnswerError(reason));
      timer = setTimeout(() => giveUp(t('{0} did not answer within {1} s', program, this.answerLimit / 1000)), this.answerLimit);
      signal.addEventListener('abort', () => giveUp(t('the start was given up')));
      if (signal.aborted) giveUp(t('the start was given up'));
    });
    start.catch(() => undefined); // when it fails after that, nobody waits any more
    await Promise.race([start, givenUp]).finally(() => clearTimeout(timer));
  }

  /** Kills a sidecar that was never connected: it can't be asked to end. */
  private abandon(): void {
    const server = processOf(this.client);
    this.client = undefined;
    server?.kill('SIGKILL');
    server?.stdout?.destroy(); // what it started may hold it open
  }

  /** The sidecar ended by itself, at its start or later. */
  private async ended(reason: string): Promise<void> {
    await this.stop();
    if (this.disposed) return;
    const wait = this.restarts.crashed(Date.now());
    if (wait === undefined) {
      this.become({ state: 'failed', reason: t('{0}, {1} times within minutes', reason, this.restarts.count) });
      return;
    }
    this.log.warn(`${reason}; next start in ${wait} ms`);
    this.become({ state: 'starting' });
    this.timer = setTimeout(() => void this.enqueue(() => this.start()), wait);
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    clearTimeout(this.timer);
    if (!client) return;
    this.become({ state: 'stopped' });
    this.statusEmitter.fire({ message: '', loops: [] });
    await client.dispose(stopLimit).catch((e: unknown) => this.log.debug(String(e)));
  }

  /** Tells of a file that was saved: after a run was cut off, it is the user's. The client tells of few files by itself. */
  saved(document: vscode.TextDocument): void {
    if (this.server.state !== 'running' || document.uri.scheme !== 'file') return;
    const params = { textDocument: { uri: document.uri.toString() } };
    this.client?.sendNotification('textDocument/didSave', params).catch((e: unknown) => this.log.debug(String(e)));
  }

  /** Has a document that the server writes asked for again. */
  readAgain(uri: vscode.Uri): void {
    this.client?.getFeature('workspace/textDocumentContent')?.getProviders()?.forEach((provider) => provider.onDidChangeEmitter.fire(uri));
  }

  private tellLevel(): void {
    if (this.server.state !== 'running') return;
    this.client?.sendNotification(method.setUpdates, { level: this.level }).catch((e: unknown) => this.log.debug(String(e)));
  }
}

function processOf(client: LanguageClient | undefined): ChildProcess | undefined {
  return (client as unknown as { _serverProcess?: ChildProcess } | undefined)?._serverProcess;
}
