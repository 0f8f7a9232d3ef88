// A plain editor: what the client side of Microsoft's protocol library makes
// of ralph-lsp, for a client that has no plugin for it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.join(process.env.PROTOCOL_LIBRARY, 'index.js'));
export const lsp = require('vscode-languageserver-protocol/node');

const patience = 300_000; // ms, for anything that is to come: only what hangs takes longer
const pollInterval = 10; // ms, for what no message tells

// What an editor of today announces; nothing of it is special to ralph-lsp.
const capabilities = {
  general: { positionEncodings: ['utf-16'] },
  window: { workDoneProgress: true, showMessage: { messageActionItem: { additionalPropertiesSupport: true } } },
  workspace: {
    applyEdit: true, workspaceFolders: true, executeCommand: {}, codeLens: { refreshSupport: true },
    diagnostics: { refreshSupport: true },
  },
  textDocument: {
    codeLens: {}, diagnostic: {}, hover: { contentFormat: ['markdown'] }, completion: { contextSupport: true },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix', 'refactor'] } } },
  },
};

/** A new folder with these files: their names and texts. */
export function makeFolder(files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'project-'));
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text);
  return folder;
}

export const uriOf = (...names) => pathToFileURL(path.join(...names)).href;
export const stateFile = folder => path.join(folder, '.pi', 'ralph-loop.local.md');

/** Waits until look returns something true, and returns that. what names it for the reader of a failure. */
export async function until(what, look) {
  for (const deadline = Date.now() + patience; ;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > deadline) throw new Error(`never seen: ${what}`);
    await sleep(pollInterval);
  }
}

/** Waits for the agent of an endless task in a folder, and returns its process id. */
export async function agentIn(folder) {
  const file = path.join(folder, 'agent.pid');
  await until('the agent', () => fs.existsSync(file));
  const pid = Number(fs.readFileSync(file, 'utf8'));
  fs.rmSync(file);
  return pid;
}

export function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export class Editor {
  messages = []; // window/showMessage, in order
  questions = []; // window/showMessageRequest, in order
  withdrawn = 0; // questions that the server no longer needs an answer to
  progress = new Map(); // the values of each token
  refreshes = 0; // of the code lenses
  isGone = false; // without a goodbye
  surprises = []; // what a client of the standard can't make sense of
  answers = {}; // what a question's message has in it -> the action to choose; a question that matches nothing stays open

  /** Starts the server with these folders open. */
  static async open(...folders) {
    const editor = new Editor();
    editor.server = spawn(process.env.RALPH_LSP, ['--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
    editor.exited = once(editor.server, 'exit');
    editor.#connect();
    const workspaceFolders = folders.map(folder => ({ uri: uriOf(folder), name: path.basename(folder) }));
    const result = await editor.ask(lsp.InitializeRequest, { processId: process.pid, rootUri: null, capabilities, workspaceFolders });
    editor.capabilities = result.capabilities;
    await editor.tell(lsp.InitializedNotification, {});
    return editor;
  }

  #connect() {
    const surprise = text => this.isGone || this.surprises.push(text);
    const logger = { error: surprise, warn: surprise, info() {}, log() {} };
    const c = this.connection = lsp.createProtocolConnection(
      new lsp.StreamMessageReader(this.server.stdout), new lsp.StreamMessageWriter(this.server.stdin), logger);
    c.onError(error => surprise(`error: ${JSON.stringify(error)}`));
    c.onUnhandledNotification(message => surprise(`notification ${message.method}`));
    c.onUnhandledProgress(message => surprise(`progress without a token: ${JSON.stringify(message)}`));
    c.onRequest((method, params) => {
      surprise(`request ${method} ${JSON.stringify(params)}`);
      return new lsp.ResponseError(lsp.ErrorCodes.MethodNotFound, method);
    });
    c.onNotification(lsp.LogMessageNotification.type, () => {});
    c.onNotification(lsp.ShowMessageNotification.type, message => this.messages.push(message));
    c.onRequest(lsp.ShowMessageRequest.type, (question, cancelled) => this.#answer(question, cancelled));
    c.onRequest(lsp.CodeLensRefreshRequest.type, () => { this.refreshes++; });
    c.onRequest(lsp.DiagnosticRefreshRequest.type, () => {});
    c.onRequest(lsp.WorkDoneProgressCreateRequest.type, ({ token }) => {
      const values = [];
      this.progress.set(token, values);
      c.onProgress(lsp.WorkDoneProgress.type, token, value => values.push(value));
    });
    c.listen();
  }

  #answer(question, cancelled) {
    this.questions.push(question);
    const [, title] = Object.entries(this.answers).find(([part]) => question.message.includes(part)) ?? [];
    if (title) return question.actions.find(action => action.title === title) ?? null;
    return new Promise(resolve => cancelled.onCancellationRequested(() => {
      this.withdrawn++;
      resolve(null);
    }));
  }

  ask(request, params, token) { return this.connection.sendRequest(request.type, params, token); }

  tell(notification, params) { return this.connection.sendNotification(notification.type, params); }

  /** Opens a file, with another text than the one on disk if given. */
  async show(file, text = fs.readFileSync(file, 'utf8')) {
    const textDocument = { uri: uriOf(file), languageId: 'markdown', version: 1, text };
    await this.tell(lsp.DidOpenTextDocumentNotification, { textDocument });
    return textDocument;
  }

  /** What the server's command results in. */
  run(command, argument, token) {
    return this.ask(lsp.ExecuteCommandRequest, { command, arguments: [argument] }, token);
  }

  lenses({ uri }) { return this.ask(lsp.CodeLensRequest, { textDocument: { uri } }); }

  /** Clicks on the document's code lens whose title matches. */
  async click(document, title) {
    const lens = (await this.lenses(document)).find(({ command }) => title.test(command.title));
    return this.ask(lsp.ExecuteCommandRequest, lens.command);
  }

  message(pattern) { return until(`message ${pattern}`, () => this.messages.find(({ message }) => pattern.test(message))); }

  question(pattern) { return until(`question ${pattern}`, () => this.questions.find(({ message }) => pattern.test(message))); }

  /** Waits for a progress of the loop whose message matches. */
  async progressOf(loopId, pattern) {
    const values = () => this.progress.get(`ralph/${loopId}`);
    try {
      return await until(`progress ${pattern}`, () => values()?.find(({ message }) => pattern.test(message)));
    } catch (error) {
      throw new Error(`${error.message}; it was ${JSON.stringify(values())}, and told were ${JSON.stringify(this.messages)}`);
    }
  }

  /** Says goodbye, and returns the exit code. */
  async close() {
    await this.ask(lsp.ShutdownRequest);
    await this.tell(lsp.ExitNotification);
    return this.exit();
  }

  /** Goes without a goodbye. What it would still answer isn't sent any more. */
  go() {
    this.isGone = true;
    this.server.stdin.end();
  }

  /** The server's exit code. */
  async exit() {
    const [code] = await this.exited;
    this.connection.dispose();
    return code;
  }
}
