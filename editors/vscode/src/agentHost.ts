// Loops in VS Code's own chat: starts the agent host for a window, and tells the Agents window of it.
import { spawn, type ChildProcess } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as net from 'node:net';
import * as path from 'node:path';
import * as readline from 'node:readline';
import * as vscode from 'vscode';
import { withHost, type AgentHost as Entry } from './agentHosts';
import { outside } from './binary';
import { t } from './l10n';
import type { Sidecar } from './sidecar';

const hosts = 'chat.remoteAgentHosts';
const enabled = 'ralph.agentHost.enabled';

export class AgentHost implements vscode.Disposable {
  private child: ChildProcess | undefined;
  private own: Entry | undefined;
  /** Changes of the setting and what comes of them, one after another. */
  private work: Promise<void> = Promise.resolve();
  private readonly settings = vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration(enabled) && void this.apply());

  constructor(private readonly sidecar: Sidecar, private readonly storage: vscode.Uri) {
    void this.apply();
  }

  /** Turns it on or off, for all windows of the user. */
  async toggle(): Promise<void> {
    if (!isKnown(hosts)) {
      void vscode.window.showInformationMessage(t('Ralph: this window knows no agent hosts; VS Code does from 1.139 on, on a desktop. A server is told of one when it starts (docs/AHP.md).'));
      return;
    }
    const settings = vscode.workspace.getConfiguration();
    const wanted = !settings.get<boolean>(enabled);
    if (wanted && isKnown(`${hosts}Enabled`)) await settings.update(`${hosts}Enabled`, true, vscode.ConfigurationTarget.Global);
    await settings.update(enabled, wanted, vscode.ConfigurationTarget.Global);
    await this.work;
    void vscode.window.showInformationMessage(wanted ? t('Ralph: loops are in the Agents window now.') : t('Ralph: loops are not in the Agents window any more.'));
  }

  /** Ends the host, and its loops as the window's end does. */
  dispose(): Promise<void> {
    this.settings.dispose();
    return this.enqueue(() => this.stop());
  }

  private apply(): Promise<void> {
    return this.enqueue(async () => {
      const wanted = isKnown(hosts) && vscode.workspace.getConfiguration().get<boolean>(enabled) === true;
      if (wanted && !this.child) await this.start();
      if (!wanted && this.child) await this.stop();
    });
  }

  private enqueue(job: () => Promise<void>): Promise<void> {
    return (this.work = this.work.then(job).catch((e: unknown) => this.sidecar.log.error(`the agent host: ${String(e)}`)));
  }

  private async start(): Promise<void> {
    await fs.mkdir(this.storage.fsPath, { recursive: true });
    const file = path.join(this.storage.fsPath, 'agent-host-token');
    const folders = (vscode.workspace.workspaceFolders ?? []).filter((f) => f.uri.scheme === 'file').map((f) => f.uri.fsPath);
    const { path: program } = await this.sidecar.find();
    const child = spawn(program, ['ahp', '--token-file', file, '--', ...folders], { cwd: outside, stdio: ['pipe', 'pipe', 'pipe'] });
    child.once('error', (e) => this.sidecar.log.error(`the agent host: ${e.message}`));
    readline.createInterface({ input: child.stderr }).on('line', (line) => this.sidecar.log.info(`the agent host: ${line}`));
    const lines = readline.createInterface({ input: child.stdout });
    const first = await new Promise<string | undefined>((resolve) => lines.once('line', resolve).once('close', () => resolve(undefined)));
    if (!first) throw new Error(t('it ended before it said where it is'));
    this.child = child;
    const { address } = JSON.parse(first) as { address: string };
    await this.list({ name: 'Ralph loops', address, connectionToken: (await fs.readFile(file, 'utf8')).trim() });
    child.once('exit', () => {
      if (this.child !== child) return;
      this.child = undefined;
      void this.enqueue(() => this.list(undefined));
    });
  }

  private async stop(): Promise<void> {
    const child = this.child;
    if (!child) return;
    this.child = undefined;
    const gone = new Promise((resolve) => (child.exitCode !== null ? resolve(undefined) : child.once('exit', resolve)));
    child.stdin?.end();
    await this.list(undefined);
    await gone;
  }

  /** Writes our host into the user's list, or takes it out; so are hosts of windows that were killed. */
  private async list(own: Entry | undefined): Promise<void> {
    const token = (own ?? this.own)?.connectionToken;
    if (!token) return;
    const settings = vscode.workspace.getConfiguration();
    const before = settings.inspect<Entry[]>(hosts)?.globalValue;
    const ours = (before ?? []).flatMap((h) => (h.connectionToken === token && h.address && h.address !== this.own?.address ? [h.address] : []));
    const alive = new Set<string>();
    await Promise.all(ours.map(async (address) => (await listens(address)) && alive.add(address)));
    this.own = own;
    const after = withHost(before, own, token, (address) => alive.has(address));
    await settings.update(hosts, after.length > 0 ? after : undefined, vscode.ConfigurationTarget.Global);
  }
}

/** Whether this VS Code has a setting. */
const isKnown = (setting: string): boolean => vscode.workspace.getConfiguration().inspect(setting)?.defaultValue !== undefined;

function listens(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = net.connect({ host, port: Number(port), timeout: 1000 });
    const end = (is: boolean) => (socket.destroy(), resolve(is));
    socket.once('connect', () => end(true)).once('error', () => end(false)).once('timeout', () => end(false));
  });
}
