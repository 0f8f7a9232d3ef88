// The sidecar as the rest of the extension sees it: started, watched, restarted.
import * as vscode from 'vscode';
import { State, type LanguageClient } from 'vscode-languageclient/node';
import { findBinary } from './binary';
import { newClient, type ProgressEvent } from './client';
import * as config from './config';
import { t } from './l10n';
import { Restarts } from './restarts';
import type { Server } from './statusText';
import { command, method, type ErrorData, type StatusParams, type UpdateLevel, type UpdateParams } from './wire';

type CommandId = (typeof command)[keyof typeof command];

/** A command that the sidecar refused, with its reason. */
export class CommandError extends Error {
  constructor(message: string, readonly data: ErrorData) {
    super(message);
  }
}

export class Sidecar implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private server: Server = { state: 'stopped' };
  private level: UpdateLevel = 'tools';
  private readonly restarts = new Restarts();
  /** The starts and stops, one after another. */
  private work: Promise<void> = Promise.resolve();
  private queued: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private disposed = false;

  private readonly serverEmitter = new vscode.EventEmitter<Server>();
  private readonly statusEmitter = new vscode.EventEmitter<StatusParams>();
  private readonly updateEmitter = new vscode.EventEmitter<UpdateParams>();
  private readonly progressEmitter = new vscode.EventEmitter<ProgressEvent>();
  readonly onServer = this.serverEmitter.event;
  readonly onStatus = this.statusEmitter.event;
  readonly onUpdate = this.updateEmitter.event;
  readonly onProgress = this.progressEmitter.event;

  constructor(private readonly extensionPath: string, readonly log: vscode.LogOutputChannel) {}

  get state(): Server {
    return this.server;
  }

  /** Process id of the running sidecar. */
  get pid(): number | undefined {
    return (this.client as unknown as { _serverProcess?: { pid?: number } } | undefined)?._serverProcess?.pid;
  }

  /** Starts, or restarts; a request while one waits joins it. */
  restart(): Promise<void> {
    this.restarts.reset();
    this.queued ??= this.enqueue(async () => {
      this.queued = undefined;
      await this.stop();
      await this.start();
    });
    return this.queued;
  }

  /** Runs one of the server's commands. */
  async execute<T>(id: CommandId, argument: object = {}): Promise<T> {
    await this.work;
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

  /** Says which updates are wanted, also of sidecars to come. */
  setLevel(level: UpdateLevel): void {
    if (level === this.level) return;
    this.level = level;
    this.tellLevel();
  }

  /** Ends the sidecar; its loops are interrupted, and can be resumed. */
  async dispose(): Promise<void> {
    this.disposed = true;
    clearTimeout(this.timer);
    await this.enqueue(() => this.stop());
    for (const e of [this.serverEmitter, this.statusEmitter, this.updateEmitter, this.progressEmitter]) e.dispose();
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
    if (this.disposed) return;
    clearTimeout(this.timer);
    this.become({ state: 'starting' });
    try {
      const binary = await findBinary({
        setting: config.serverPath(), extension: this.extensionPath, searchPath: process.env.PATH ?? '',
        folder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
      });
      this.log.info(`starting ${binary.path}, version ${binary.version}`);
      await this.connect(newClient(binary, { log: this.log, thinking: config.showThinking(), onProgress: (e) => this.progressEmitter.fire(e) }));
    } catch (e) {
      const reason = e instanceof Error ? e.message : String(e);
      this.log.error(reason);
      if (this.client) return this.ended(reason);
      this.become({ state: 'failed', reason });
    }
  }

  private async connect(client: LanguageClient): Promise<void> {
    this.client = client;
    client.onNotification(method.status, (p: StatusParams) => this.statusEmitter.fire(p));
    client.onNotification(method.update, (p: UpdateParams) => this.updateEmitter.fire(p));
    await client.start();
    client.onDidChangeState((e) => {
      if (e.newState === State.Stopped && this.client === client) void this.enqueue(() => this.ended(t('the Ralph server ended')));
    });
    this.become({ state: 'running' });
    this.tellLevel();
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
    this.statusEmitter.fire({ seq: 0, health: 'ok', busy: false, message: '', loops: [] });
    await client.dispose(2000).catch((e: unknown) => this.log.debug(String(e)));
  }

  private tellLevel(): void {
    if (this.server.state !== 'running') return;
    this.client?.sendNotification(method.setUpdates, { level: this.level }).catch((e: unknown) => this.log.debug(String(e)));
  }
}
