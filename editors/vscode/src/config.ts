// The settings, typed.
import * as vscode from 'vscode';
import { hasSecondarySideBar } from './panel/surface';
import type { Limits, Settings } from './wire';

function get<T>(key: string, scope?: vscode.Uri): T | undefined {
  return vscode.workspace.getConfiguration('ralph', scope).get<T | null>(key) ?? undefined;
}

export const serverPath = (): string => get<string>('server.path')?.trim() ?? '';
/** The URL of the bus whose loops are shown; '' is none. */
export const fleetBus = (): string => get<string>('fleet.bus')?.trim() ?? '';
export const notify = (): string => get<string>('notify') ?? 'always';
export const hideWhenIdle = (): boolean => get<boolean>('statusBar.hideWhenIdle') ?? true;
export const openOnStart = (): boolean => get<boolean>('transcript.openOnStart') ?? true;
/** Whether transcripts are shown in the panel; an older VS Code has no place for it. */
export const opensInPanel = (): boolean => hasSecondarySideBar(vscode.version) && get<string>('transcript.openIn') !== 'editor';
export const showsSourceControl = (): boolean => get<boolean>('changes.sourceControl') ?? true;
export const showThinking = (): boolean => get<boolean>('transcript.thinking') ?? false;

/** The prompt file, if the user has named one; else the files say which it is. */
export function promptFile(folder: vscode.Uri): { promptUri?: string } {
  const { workspaceFolderValue, workspaceValue, globalValue } = vscode.workspace.getConfiguration('ralph', folder).inspect<string>('promptFile') ?? {};
  const file = workspaceFolderValue || workspaceValue || globalValue;
  return file ? promptUri(folder, file) : {};
}

/** A prompt file that is named by its path in the folder, or absolutely. */
export function promptUri(folder: vscode.Uri, file: string): { promptUri: string } {
  const absolute = file.startsWith('/') || /^[a-z]:[\\/]/i.test(file);
  return { promptUri: (absolute ? vscode.Uri.file(file) : vscode.Uri.joinPath(folder, file)).toString() };
}

const minutes = (n: number | undefined): number | undefined => (n === undefined ? undefined : Math.round(n * 60_000));

/** The limits that the user set; what isn't set is up to ralph.toml and the sidecar. */
function limits(scope?: vscode.Uri): Limits {
  return withoutUndefined({
    maxIterations: get<number>('limits.maxIterations', scope),
    completionPromise: get<string>('completionPromise', scope) || undefined,
    maxCostUsd: get<number>('limits.maxCostUsd', scope),
    maxDurationMs: minutes(get<number>('limits.maxMinutes', scope)),
    idleTimeoutMs: minutes(get<number>('limits.idleMinutes', scope)),
    toolTimeoutMs: minutes(get<number>('limits.toolMinutes', scope)),
    maxConsecutiveFailures: get<number>('limits.maxConsecutiveFailures', scope),
    maxUnchangedIterations: get<number>('limits.maxUnchangedIterations', scope),
    maxUnknownCostRuns: get<number>('limits.maxUnknownCostRuns', scope),
  });
}

/** What the settings say about a start in a folder. */
export function choices(scope?: vscode.Uri): Settings {
  const args = get<string[]>('backendArgs', scope) ?? [];
  return withoutUndefined({
    ...limits(scope),
    backend: get<string>('backend', scope) || undefined,
    model: get<string>('model', scope) || undefined,
    args: args.length > 0 ? args : undefined,
    permissions: get<string>('permissions') === 'ask' ? 'ask' : undefined,
    onClose: get<'end' | 'keep' | ''>('onClose') || undefined,
  });
}

function withoutUndefined<T extends object>(o: T): T {
  return Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined)) as T;
}
