// The commands, and which function each one is.
import * as vscode from 'vscode';
import { showStatus } from './actions';
import type { AgentHost } from './agentHost';
import { chooseFolder, chooseLoop, chooseSession, type LoopArgument } from './choose';
import type { Comments } from './comments';
import { Controls, telling } from './control';
import type { Diffs, DiffTarget } from './diffs';
import type { Loops } from './loops';
import { showError } from './notifications';
import type { Pages } from './pages';
import type { Panels, Place } from './panel/panels';
import { plan } from './plan';
import type { Questions } from './questions';
import { showRefused, type Review } from './review';
import type { Sidecar } from './sidecar';
import { revertChange, type LineChange, type SourceControls } from './sourceControl';
import type { StartArgument, Starter } from './start';
import { changeable, type StartOptions } from './startOptions';
import { chooseTarget, type ChangesArgument } from './target';
import { showAsText } from './transcript';
import { isSlash, type Answer, type CommandId, type LoopParams, type Offer } from './wire';

export interface Parts {
  sidecar: Sidecar;
  agentHost: AgentHost;
  loops: Loops;
  starter: Starter;
  options: StartOptions;
  panels: Panels;
  diffs: Diffs;
  review: Review;
  sourceControls: SourceControls;
  pages: Pages;
  questions: Questions;
  comments: Comments;
}

type Handler = (...args: never[]) => unknown;

/** Registers all commands. What one throws is shown. */
export function registerCommands(parts: Parts): vscode.Disposable {
  const all = { ...editorCommands(parts), ...changesCommands(parts), ...lensCommands(parts) };
  return vscode.Disposable.from(...Object.entries(all).map(([id, run]) => vscode.commands.registerCommand(id, guarded(run))));
}

function guarded(run: Handler) {
  return async (...args: unknown[]): Promise<unknown> => {
    try {
      return await run(...(args as never[]));
    } catch (e) {
      return showError(e);
    }
  };
}

function editorCommands({ sidecar, agentHost, loops, starter, options, panels, pages, questions }: Parts): Record<string, Handler> {
  const controls = new Controls(sidecar, loops);
  return {
    'ralph.start': (a?: StartArgument) => starter.start(a),
    'ralph.startAgain': (a?: StartArgument) => starter.startAgain(a),
    'ralph.prompt.start': () => starter.startPrompt(),
    'ralph.prompt.options': (what?: string) => starter.chooseOptions(changeable.find((c) => c === what)),
    'ralph.prompt.recent': () => starter.recent(),
    'ralph.install': () => options.install(),
    'ralph.startFromEditor': (a?: vscode.Uri | StartArgument) => starter.startFromEditor(a),
    'ralph.runOnce': (a?: StartArgument) => starter.start({ ...a, maxIterations: 1 }),
    'ralph.cancel': (a?: LoopArgument) => controls.cancel(a),
    'ralph.pause': (a?: LoopArgument) => controls.act('pause', a),
    'ralph.next': (a?: LoopArgument) => controls.act('next', a),
    'ralph.detach': (a?: LoopArgument) => controls.act('detach', a),
    'ralph.resume': (a?: LoopArgument) => controls.resume(a),
    'ralph.answer': (a?: LoopArgument & Partial<Answer>) => questions.answer(a),
    'ralph.showQuestion': (loop: LoopParams) => questions.showAll(loop),
    'ralph.takeBack': ({ offer }: { offer: Offer }) => sidecar.execute('ralph.loop.update', offer.arguments?.[0] as object),
    'ralph.land': (a?: LoopArgument) => controls.land(a),
    'ralph.fetch': (a?: LoopArgument) => controls.fetch(a),
    'ralph.discardWorktree': (a?: LoopArgument) => controls.land({ ...a, discard: true }),
    'ralph.steer': (a?: LoopArgument) => controls.steer(a),
    'ralph.changeLimits': (a?: LoopArgument) => controls.changeLimits(a),
    'ralph.showStatus': () => showStatus(sidecar, loops),
    'ralph.showOutput': async (a?: LoopArgument) => {
      const loop = await chooseOutput(loops, a);
      if (loop) panels.show(loop);
    },
    'ralph.transcript.reveal': (a: Place & { place?: Place }) => panels.reveal(a.place ?? a),
    'ralph.openFile': ({ uri }: { uri: string }) => vscode.window.showTextDocument(vscode.Uri.parse(uri)),
    'ralph.transcript.goTo': () => panels.active?.pick(),
    'ralph.transcript.openAsText': async (a?: LoopArgument) => {
      const loop = a || !panels.active ? await chooseOutput(loops, a) : panels.active.loop;
      if (loop) await showAsText(loops, loop);
    },
    'ralph.showLog': () => sidecar.log.show(),
    'ralph.openStateFile': (a?: LoopArgument) => controls.openStateFile(a),
    'ralph.openWorktree': (a?: LoopArgument) => controls.openWorktree(a),
    'ralph.openSession': (a?: LoopArgument) => controls.openSession(a),
    'ralph.continueInPi': async (a?: LoopArgument) => {
      const loop = await chooseSession(loops, a);
      return loop?.sessionFileUri && plan(sidecar, { sessionFileUri: loop.sessionFileUri, folder: loop.folder });
    },
    'ralph.plan': (a?: Parameters<typeof plan>[1]) => plan(sidecar, a),
    'ralph.doctor': async (a?: { folder?: string }) => {
      if (!a?.folder && !vscode.workspace.workspaceFolders?.length) return pages.doctor(undefined);
      const folder = await chooseFolder(a?.folder, vscode.window.activeTextEditor?.document.uri);
      return folder && pages.doctor(folder.toString());
    },
    'ralph.agentHost': () => agentHost.toggle(),
    'ralph.restartServer': () => sidecar.restart(),
    'ralph.help': () => pages.help(),
  };
}

function changesCommands({ diffs, review, sourceControls, comments }: Parts): Record<string, Handler> {
  const onTarget = (run: (target: DiffTarget) => unknown) => async (...args: ChangesArgument[]) => {
    const target = await chooseTarget(args);
    return target && run(target);
  };
  return {
    'ralph.openChanges': onTarget((t) => diffs.open(t)),
    'ralph.compareWithFile': onTarget((t) => diffs.compareWithFile(t)),
    'ralph.keepChanges': onTarget((t) => review.keep(t)),
    'ralph.reviewAgain': onTarget((t) => review.keep(t, false)),
    'ralph.undoChanges': onTarget((t) => review.undo(t)),
    'ralph.redoChanges': onTarget((t) => review.redo(t)),
    'ralph.remark.add': (reply: Parameters<Comments['add']>[0]) => comments.add(reply),
    'ralph.remark.remove': (thread: vscode.CommentThread) => comments.remove(thread),
    'ralph.remark.send': () => comments.send(),
    'ralph.showRefused': (refused: Parameters<typeof showRefused>[0]) => showRefused(refused),
    'ralph.revertChange': (uri: vscode.Uri, changes: LineChange[], index: number) => {
      const [original, change] = [sourceControls.originalOf(uri), changes[index]];
      return original && change && revertChange(uri, original, change);
    },
    'ralph.keepChange': (uri: vscode.Uri, changes: LineChange[], index: number) => {
      const [original, change] = [sourceControls.originalOf(uri), changes[index]];
      return original && change && review.keepChange(uri, original, change);
    },
  };
}

/** The server's commands that its code lenses and code actions carry. */
function lensCommands({ sidecar, starter, diffs, review, pages, questions }: Parts): Record<string, Handler> {
  const passed = ['cancel', 'pause', 'next', 'detach', 'resume', 'update', 'steer', 'open', 'output', 'keep', 'status'].map((name) => `ralph.loop.${name}` as CommandId);
  return {
    ...Object.fromEntries([...passed, 'ralph.plan.mark' as const].map((id) => [id, (a?: object) => sidecar.execute(id, a)])),
    'ralph.loop.changes': (a: { from?: number; to?: number } & LoopParams) => diffs.open({ ...a, iteration: a.to }),
    'ralph.loop.answer': (a: LoopArgument & Partial<Answer>) => questions.answer(a),
    'ralph.loop.undo': (a: LoopParams) => review.take('ralph.loop.undo', a),
    'ralph.loop.redo': (a: LoopParams) => review.take('ralph.loop.redo', a),
    'ralph.loop.land': (a: LoopParams) => telling(sidecar, 'ralph.loop.land', a),
    'ralph.loop.fetch': (a: LoopParams) => telling(sidecar, 'ralph.loop.fetch', a),
    'ralph.sandbox': (a: object) => telling(sidecar, 'ralph.sandbox', a),
    'ralph.loop.start': async (a: StartArgument) => {
      if (!a.dryRun) return a.replace || a.trust ? starter.start(a) : starter.confirm(a);
      const result = await starter.dryRun(a);
      if (result && !isSlash(result)) await pages.dryRun(result);
      return result;
    },
  };
}

/** The loop whose transcript is wanted: one that is there, or else a past one. */
async function chooseOutput(loops: Loops, argument: LoopArgument): Promise<LoopParams | undefined> {
  const named = argument?.loop ?? argument;
  await loops.current();
  if (named?.loopId && !loops.byId(named.loopId)) return { loopId: named.loopId };
  const isNamed = named?.loopId || named?.folder;
  return isNamed || loops.status.length > 0 ? chooseLoop(loops, argument, () => true) : chooseSession(loops, argument);
}
