// Commands for a loop that is there.
import * as vscode from 'vscode';
import { canOf } from './can';
import { chooseLoop, chooseSession, type LoopArgument } from './choose';
import { t } from './l10n';
import type { Loops } from './loops';
import { ask, mention } from './notifications';
import { CommandError, type Sidecar } from './sidecar';
import { limitKeys, type CommandId, type Limits, type LoopParams, type LoopResult, type LoopStatus, type Notice } from './wire';

const named = (l: LoopStatus): LoopParams => (l.loopId ? { loopId: l.loopId } : { folder: l.folder });
const can = (...what: string[]) => (l: LoopStatus): boolean => what.some((w) => canOf(l).includes(w));

/** Runs one of the server's commands, and says what came of it, with what can be done then. */
export async function telling(sidecar: Sidecar, id: CommandId, argument: object): Promise<Notice> {
  const result = await sidecar.execute<Notice>(id, argument);
  void ask(result.class ?? 'ok', `Ralph: ${result.text}`, result.offers ?? []);
  return result;
}

export class Controls {
  constructor(private readonly sidecar: Sidecar, private readonly loops: Loops) {}

  /** Ends a loop; resolves when its agent and all it started are gone. */
  async cancel(argument?: LoopArgument & { when?: 'now' | 'afterIteration' }): Promise<LoopResult | undefined> {
    const loop = await chooseLoop(this.loops, argument, can('cancel', 'discard'));
    // Whatever runs in its folder: the loop may have been replaced a moment ago.
    return loop && this.run('ralph.loop.cancel', { folder: loop.folder, when: argument?.when });
  }

  /** Brings what a loop did in its worktree to the user's branch, or with discard removes it; the server asks first. */
  async land(argument?: LoopArgument & { discard?: boolean }): Promise<Notice | undefined> {
    const loop = await chooseLoop(this.loops, argument, can('land'));
    return loop && telling(this.sidecar, 'ralph.loop.land', { loopId: loop.loopId, folder: loop.folder, discard: argument?.discard });
  }

  /** Brings what a loop of another machine did into the repository that it is of, as a branch. */
  async fetch(argument?: LoopArgument): Promise<Notice | undefined> {
    const loop = await chooseLoop(this.loops, argument, can('fetch'));
    return loop && telling(this.sidecar, 'ralph.loop.fetch', named(loop));
  }

  /** Does what needs nothing but the loop: pause lets the iteration finish, next ends it, detach lets the loop go on without its window. */
  async act(what: 'pause' | 'next' | 'detach', argument?: LoopArgument): Promise<LoopResult | undefined> {
    const loop = await chooseLoop(this.loops, argument, can(what));
    return loop && this.run(`ralph.loop.${what}`, named(loop));
  }

  /** Goes on with a loop, with new limits if some are given; one that stopped at a limit needs a higher one. */
  async resume(argument?: LoopArgument & Limits): Promise<LoopResult | undefined> {
    const loop = await chooseLoop(this.loops, argument, can('resume'));
    return loop && this.change('ralph.loop.resume', loop, limitsIn(argument), loop.state === 'ended');
  }

  async changeLimits(argument?: LoopArgument & Limits): Promise<LoopResult | undefined> {
    const loop = await chooseLoop(this.loops, argument, can('update'));
    return loop && this.change('ralph.loop.update', loop, limitsIn(argument), true);
  }

  /** Tells the running agent something, where the loop is live, else the next run. */
  async steer(argument?: LoopArgument & { text?: string }): Promise<LoopResult | undefined> {
    const loop = await chooseLoop(this.loops, argument, can('steer'));
    if (!loop) return undefined;
    const text = argument?.text ?? (await vscode.window.showInputBox({
      title: t('Ralph: steer'), prompt: t('What should the agent know?'), ignoreFocusOut: true,
    }));
    return text?.trim() ? this.run('ralph.loop.steer', { ...named(loop), text }) : undefined;
  }

  async openStateFile(argument?: LoopArgument): Promise<void> {
    const loop = await chooseLoop(this.loops, argument, can('open'));
    if (loop) await this.sidecar.execute('ralph.loop.open', { folder: loop.folder });
  }

  /** Opens the folder of a loop's worktree beside what is open. */
  async openWorktree(argument?: LoopArgument): Promise<void> {
    const loop = await chooseLoop(this.loops, argument, (l) => l.worktree !== undefined);
    if (loop?.worktree) await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.parse(loop.worktree.path), { forceNewWindow: true });
  }

  /** Opens the file that a loop's session is kept in, also a past loop's. */
  async openSession(argument?: LoopArgument): Promise<void> {
    const file = (await chooseSession(this.loops, argument))?.sessionFileUri;
    if (file) await vscode.window.showTextDocument(vscode.Uri.parse(file));
  }

  /** Runs one of the server's commands, and says what came of it. */
  private async run(id: CommandId, argument: object): Promise<LoopResult> {
    const result = await this.sidecar.execute<LoopResult>(id, argument);
    if (result.text) mention(result.text);
    return result;
  }

  /** Changes a loop's limits; without any that are given, and if ask is set, to what the user types. */
  private async change(id: 'ralph.loop.resume' | 'ralph.loop.update', loop: LoopStatus, given: Limits, ask: boolean): Promise<LoopResult | undefined> {
    if (!ask || Object.keys(given).length > 0) return this.run(id, { ...named(loop), ...given });
    for (let prompt = loop.limitTexts?.join(' · ') ?? '', value = ''; ;) {
      const text = await vscode.window.showInputBox({
        title: t('Ralph: change limits'), prompt, value, placeHolder: t('80, +10, $7 or 2h; also as flags: --max-iterations 80 --completion-promise DONE'), ignoreFocusOut: true,
      });
      if (!text?.trim()) return undefined;
      try {
        return await this.run(id, { ...named(loop), text });
      } catch (e) {
        if (!(e instanceof CommandError) || e.data.key !== 'text') throw e;
        [prompt, value] = [e.message, text];
      }
    }
  }
}

/** The limits in an argument, without what else is in it. */
function limitsIn(argument: Limits = {}): Limits {
  return Object.fromEntries([...limitKeys, 'completionPromise' as const].filter((key) => argument[key] !== undefined).map((key) => [key, argument[key]]));
}
