// Finds the sidecar: the setting, the one that came with the extension, PATH. Where loops of
// other machines are wanted it is ralph-fleet, which is beside ralph-lsp or on PATH.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { t } from './l10n';

export interface Binary { path: string; version: string }

/** Why there is no usable sidecar, in a sentence for the user. */
export class NoBinaryError extends Error {}

export interface Places {
  /** ralph.server.path; '' is not set. */
  setting: string;
  /** The extension's own folder. */
  extension: string;
  /** What a relative setting starts from. */
  folder: string | undefined;
  /** As in the environment. */
  searchPath: string;
}

/** Where programs work that help and are no agents: nobody but the administrator writes there. */
export const outside = process.platform === 'win32' ? process.env.SystemRoot ?? 'C:\\Windows' : '/';

const suffix = process.platform === 'win32' ? '.exe' : '';
const versionTimeout = 20_000;

/** Returns the first sidecar there is; a setting that leads nowhere is an error. */
export async function findBinary(places: Places): Promise<Binary> {
  if (places.setting) {
    const file = absolute(places.setting, places.folder);
    if (!(await isExecutable(file))) {
      throw new NoBinaryError(t('there is no program at {0} (setting ralph.server.path)', file));
    }
    return check(file);
  }
  const found = await firstOf('ralph-lsp', [path.join(places.extension, 'server'), ...foldersOf(places.searchPath)]);
  if (!found) throw new NoBinaryError(t('ralph-lsp was not found: not with the extension, not on PATH. Install it, or set ralph.server.path.'));
  return check(found);
}

/** Returns the ralph-fleet that goes with a sidecar. */
export async function findFleet(sidecar: Binary, searchPath: string): Promise<Binary> {
  const beside = path.dirname(sidecar.path);
  const found = await firstOf('ralph-fleet', [beside, ...foldersOf(searchPath)]);
  if (!found) throw new NoBinaryError(t('ralph-fleet was not found, not in {0} and not on PATH: loops of other machines are not shown. Put it there, or clear ralph.fleet.bus.', beside));
  return check(found, 'ralph-fleet');
}

const foldersOf = (searchPath: string): string[] => searchPath.split(path.delimiter).filter(path.isAbsolute);

async function firstOf(program: string, folders: string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const file = path.join(folder, program + suffix);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

function absolute(setting: string, folder: string | undefined): string {
  const file = setting.startsWith('~/') ? path.join(homedir(), setting.slice(2)) : setting;
  return path.resolve(folder ?? homedir(), file);
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

async function check(file: string, program = 'ralph-lsp'): Promise<Binary> {
  let said: string[];
  try {
    said = (await promisify(execFile)(file, ['version'], { cwd: outside, timeout: versionTimeout, killSignal: 'SIGKILL' })).stdout.split(/\s/, 2);
  } catch (e) {
    throw new NoBinaryError(t('{0} does not run: {1}', file, firstLine(e)));
  }
  const [name, version] = said;
  if (name !== program || !version) throw new NoBinaryError(t('{0} is not {1}', file, program));
  return { path: file, version };
}

function firstLine(e: unknown): string {
  const failure = e as { killed?: boolean; message?: string };
  if (failure.killed) return t('it gave no answer to "version" within {0} s', versionTimeout / 1000);
  return (failure.message ?? String(e)).split('\n')[0] ?? '';
}
