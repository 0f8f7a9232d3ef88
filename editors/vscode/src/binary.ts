// Finds the sidecar: the setting, the one that came with the extension, PATH.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { t } from './l10n';
import { isTooOld, minVersion, versionIn } from './version';

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

const program = process.platform === 'win32' ? 'ralph-lsp.exe' : 'ralph-lsp';
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
  const candidates = [path.join(places.extension, 'server', program), ...places.searchPath.split(path.delimiter).filter(Boolean).map((d) => path.join(d, program))];
  for (const file of candidates) {
    if (await isExecutable(file)) return check(file);
  }
  throw new NoBinaryError(t('ralph-lsp was not found: not with the extension, not on PATH. Install it, or set ralph.server.path.'));
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

async function check(file: string): Promise<Binary> {
  let version: string | undefined;
  try {
    const { stdout } = await promisify(execFile)(file, ['version'], { timeout: versionTimeout, killSignal: 'SIGKILL' });
    version = versionIn(stdout);
  } catch (e) {
    throw new NoBinaryError(t('{0} does not run: {1}', file, firstLine(e)));
  }
  if (!version) throw new NoBinaryError(t('{0} is not ralph-lsp', file));
  if (isTooOld(version)) throw new NoBinaryError(t('{0} is too old: version {1}, and {2} is needed', file, version, minVersion));
  return { path: file, version };
}

function firstLine(e: unknown): string {
  const failure = e as { killed?: boolean; message?: string };
  if (failure.killed) return t('it gave no answer to "version" within {0} s', versionTimeout / 1000);
  return (failure.message ?? String(e)).split('\n')[0] ?? '';
}
