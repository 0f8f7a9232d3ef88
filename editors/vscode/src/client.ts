// The connection to one sidecar process.
import * as vscode from 'vscode';
import {
  CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn,
  type DynamicFeature, type LanguageClientOptions, type StaticFeature,
} from 'vscode-languageclient/node';
import { outside, type Binary } from './binary';
import type { Diagnoses } from './diagnostics';
import { protocolVersion } from './wire';

const tokenPrefix = 'ralph/';

/** Makes a client of a program, which gets env besides its environment; it neither restarts nor tells the user of failures by itself. */
export function newClient(binary: Binary, env: Record<string, string>, log: vscode.LogOutputChannel, diagnoses: Diagnoses): LanguageClient {
  const files = { scheme: 'file' };
  const options: LanguageClientOptions = {
    documentSelector: [
      { ...files, pattern: '**/PROMPT*.md' }, { ...files, pattern: '**/.pi/ralph-loop.local.md' }, { ...files, pattern: '**/ralph.toml' },
      { ...files, pattern: '**/*.md' }, { ...files, pattern: '**/prd.json' }, // which of them are plans, the sidecar knows
    ],
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
    },
    middleware: {
      handleDiagnostics: (uri, diagnostics, next) => {
        diagnoses.published(uri);
        next(uri, diagnostics);
      },
      // Our own item in the status bar shows a loop's progress.
      handleWorkDoneProgress: (token, params, next) => {
        if (typeof token !== 'string' || !token.startsWith(tokenPrefix)) next(token, params);
      },
    },
  };
  const client = new QuietClient('ralph', 'Ralph', { command: binary.path, args: ['--stdio'], options: { cwd: outside, env: { ...process.env, ...env } } }, options);
  client.registerFeature({
    fillClientCapabilities: (capabilities) => {
      capabilities.experimental = { ...(capabilities.experimental as object | undefined),
        ralph: { version: protocolVersion, updates: true, thinking: true, // shown or not, as the setting says at the time
          minUpdateIntervalMs: 100, diagnostics: true, permissions: true, trusted: true } }; // without trust in the workspace no server is started
    },
    initialize: () => undefined,
    getState: () => ({ kind: 'static' }),
    clear: () => undefined,
  });
  return client;
}

class QuietClient extends LanguageClient {
  /** The server's commands stay out of the editor's: theirs and ours would clash (see commands.ts). */
  override registerFeature(feature: StaticFeature | DynamicFeature<never>): void {
    if ((feature as Partial<DynamicFeature<never>>).registrationType?.method === 'workspace/executeCommand') return;
    super.registerFeature(feature as StaticFeature);
  }

  /** Into the log only. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}
