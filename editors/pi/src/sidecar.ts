// Finds ralph-lsp, starts it, and gives it from one life of the extension to the next.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Heard } from './feed.ts';
import { Connection } from './rpc.ts';
import { Refusal, version } from './wire.ts';

/** How long (ms) an answer may take that comes at once. */
export const patience = 10_000;

const variable = 'RALPH_LSP';
const advice = `install it with "npm install -g ralph-lsp" or "make build" in its checkout, or set ${variable} to its path, then start pi again`;

/** The path of ralph-lsp: what RALPH_LSP says, else on PATH, else what npm installed with this extension, else in the checkout that has it. */
export function findProgram(env: NodeJS.ProcessEnv): string {
  const chosen = env[variable];
  if (chosen) {
    if (!isProgram(chosen)) throw new Refusal(`${chosen} (${variable}) is no program that can be run: set ${variable} to the path of ralph-lsp, then start pi again`);
    return path.resolve(chosen);
  }
  const name = process.platform === 'win32' ? 'ralph-lsp.exe' : 'ralph-lsp';
  const onPath = (env.PATH ?? '').split(path.delimiter).filter(path.isAbsolute).map((folder) => path.join(folder, name));
  const found = [...onPath, installed(), fileURLToPath(new URL(`../../../bin/${name}`, import.meta.url))].find(isProgram);
  if (!found) throw new Refusal(`ralph-lsp was not found: ${advice}`);
  return found;
}

/** The program of the package ralph-lsp, on which this extension depends where it came by npm. */
function installed(): string {
  try {
    return createRequire(import.meta.url)('ralph-lsp') as string;
  } catch {
    return ''; // it came by a checkout, or without its dependencies
  }
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The environment of the sidecar: the pi that we run in is found, even when it isn't on PATH. */
function environment(): NodeJS.ProcessEnv {
  const own = [process.argv[1] ?? '', process.execPath].map((file) => path.dirname(file));
  return { ...process.env, PATH: [process.env.PATH, ...own].filter(Boolean).join(path.delimiter) };
}

/** Where the sidecar works: nobody but the administrator writes there. Its greeting names the folder. */
const outside = process.platform === 'win32' ? process.env.SystemRoot ?? 'C:\\Windows' : '/';

/** Starts a program. Its greeting is greet's. */
export function launch(program: string): Connection {
  return new Connection(spawn(program, ['--stdio'], {
    cwd: outside,
    env: environment(),
    detached: process.platform !== 'win32', // the terminal's signals are pi's
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  }));
}

/** Begins the conversation. What it refuses is the user's to mend. */
export async function greet(connection: Connection, program: string, folder: string): Promise<void> {
  const params = {
    processId: process.pid,
    clientInfo: { name: 'pi' },
    workspaceFolders: [folderOf(folder)],
    capabilities: {
      window: { showDocument: { support: true } },
      workspace: { workspaceFolders: true },
      experimental: { ralph: { version, updates: true, minUpdateIntervalMs: 100, permissions: true } },
    },
  };
  const answer = await within(patience, connection.request('initialize', params)) as
    { capabilities?: { experimental?: { ralph?: { version?: number } } } } | undefined;
  if (answer === undefined) throw new Refusal(`${program} does not answer: see that it is ralph-lsp, or set ${variable} to its path, then start pi again`);
  const theirs = answer.capabilities?.experimental?.ralph?.version;
  if (theirs !== version) {
    const older = theirs === undefined || theirs < version;
    throw new Refusal(`${program} speaks version ${theirs ?? 'none'} of the protocol, this extension version ${version}: update ${older ? 'ralph-lsp' : 'the extension'}`);
  }
  connection.notify('initialized', {});
}

/** A folder as LSP has it. */
export function folderOf(folder: string): { uri: string; name: string } {
  return { uri: uriOf(folder), name: path.basename(folder) };
}

export function uriOf(file: string): string {
  return pathToFileURL(file).href;
}

/** What a promise gives, undefined when it takes longer (ms). */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => { timer = setTimeout(() => resolve(undefined), ms); });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A sidecar with what was heard from it, between two lives of the extension. */
export interface Estate {
  connection: Connection;
  program: string;
  folders: Set<string>;
  heard: Heard;
  over: Map<string, string>;
}

const place = Symbol.for(`ralph-lsp.pi.${os.platform()}.1`);
const orphanage = 10_000; // ms that an estate waits for its heir
type Holder = Record<symbol, { estate: Estate; timer: NodeJS.Timeout } | undefined>;

/** Keeps a sidecar running while pi reloads its extensions or changes its session. */
export function bequeath(estate: Estate): void {
  estate.connection.listener = undefined;
  const timer = setTimeout(() => { void inherit()?.connection.stop(1000); }, orphanage); // nobody came: the extension was taken out
  (globalThis as unknown as Holder)[place] = { estate, timer };
}

/** The sidecar that the extension's last life has left. */
export function inherit(): Estate | undefined {
  const holder = globalThis as unknown as Holder;
  const left = holder[place];
  holder[place] = undefined;
  clearTimeout(left?.timer);
  return left?.estate.connection.isOpen ? left.estate : undefined;
}
