// The commands, and which function each one is.
import * as vscode from 'vscode';
import { showStatus } from './actions';
import { chooseLoop, type LoopArgument } from './choose';
import { Controls } from './control';
import type { Diffs } from './diff';
import type { Loops } from './loops';
import { showError } from './notifications';
import type { Pages } from './pages';
import { plan } from './plan';
import type { Sidecar } from './sidecar';
import type { StartArgument, Starter } from './start';
import type { TranscriptView } from './transcriptView';
import { command } from './wire';

export interface Parts {
  sidecar: Sidecar;
  loops: Loops;
  starter: Starter;
  transcripts: TranscriptView;
  diffs: Diffs;
  pages: Pages;
}

type Handler = (argument: never) => unknown;

/** Registers all commands. What one throws is shown, and its result is undefined. */
export function registerCommands(parts: Parts): vscode.Disposable {
  const all = { ...editorCommands(parts), ...lensCommands(parts) };
  return vscode.Disposable.from(...Object.entries(all).map(([id, run]) => vscode.commands.registerCommand(id, guarded(run))));
}

function guarded(run: Handler) {
  return async (...args: unknown[]): Promise<unknown> => {
    try {
      return await run(args[0] as never);
    } catch (e) {
      void showError(e);
      return undefined;
    }
  };
}

function editorCommands({ sidecar, loops, starter, transcripts, diffs, pages }: Parts): Record<string, Handler> {
  const controls = new Controls(sidecar, loops);
  return {
    'ralph.start': (a?: StartArgument) => starter.start(a),
    'ralph.startFromEditor': (a?: vscode.Uri | StartArgument) => starter.startFromEditor(a),
    'ralph.runOnce': (a?: StartArgument) => starter.start({ ...a, maxIterations: 1 }),
    'ralph.cancel': (a?: LoopArgument) => controls.cancel(a),
    'ralph.pause': (a?: LoopArgument) => controls.pause(a),
    'ralph.resume': (a?: LoopArgument) => controls.resume(a),
    'ralph.steer': (a?: LoopArgument) => controls.steer(a),
    'ralph.changeLimits': (a?: LoopArgument) => controls.changeLimits(a),
    'ralph.showStatus': () => showStatus(sidecar, loops),
    'ralph.showOutput': async (a?: LoopArgument) => {
      const pastId = (a?.loop ?? a)?.loopId;
      const loop = pastId && !loops.byId(pastId) ? { loopId: pastId } : await chooseLoop(loops, a, () => true);
      if (loop) await transcripts.show(loop);
    },
    'ralph.showLog': () => sidecar.log.show(),
    'ralph.showChangedFiles': (a?: LoopArgument) => diffs.pick(a),
    'ralph.openDiff': (a: Parameters<Diffs['show']>[0]) => diffs.show(a),
    'ralph.openStateFile': (a?: LoopArgument) => controls.openStateFile(a),
    'ralph.openSession': (a?: LoopArgument) => controls.openSession(a),
    'ralph.continueInPi': async (a?: LoopArgument) => {
      const sessionFileUri = await controls.sessionFile(a);
      return sessionFileUri && plan(sidecar, { sessionFileUri, folder: (a?.loop ?? a)?.folder });
    },
    'ralph.plan': (a?: Parameters<typeof plan>[1]) => plan(sidecar, a),
    'ralph.doctor': (a?: { folder?: string }) => pages.doctor(a?.folder ?? onlyFolder()),
    'ralph.restartServer': () => sidecar.restart(),
    'ralph.help': () => pages.help(),
  };
}

/** The server's commands that its code lenses and code actions carry. */
function lensCommands({ sidecar, starter }: Parts): Record<string, Handler> {
  const passed = [command.cancel, command.pause, command.resume, command.update, command.steer, command.status, command.output, command.history];
  return {
    ...Object.fromEntries(passed.map((id) => [id, (a?: object) => sidecar.execute(id, a)])),
    [command.start]: async (a: StartArgument) => {
      if (!a.dryRun) return starter.start(a);
      const result = await starter.dryRun(a);
      const text = JSON.stringify(result, null, 2);
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: 'json', content: text }));
      return result;
    },
  };
}

function onlyFolder(): string | undefined {
  return vscode.workspace.workspaceFolders?.[0]?.uri.toString();
}
