// Commands for a loop that is there.
import * as vscode from 'vscode';
import { chooseLoop, chooseSession, type LoopArgument } from './choose';
import { t } from './l10n';
import { isLeft, isLive, isResumable } from './loopText';
import type { Loops } from './loops';
import type { Sidecar } from './sidecar';
import { askChanges } from './startLimits';
import { command, type Limits, type LoopParams, type LoopResult, type LoopStatus } from './wire';

const named = (l: LoopStatus): LoopParams => (l.loopId ? { loopId: l.loopId } : { folder: l.folder });

export class Controls {
  constructor(private readonly sidecar: Sidecar, private readonly loops: Loops) {}

  /** Ends a loop; resolves when its agent and all it started are gone. */
  async cancel(argument?: LoopArgument & { when?: 'now' | 'afterIteration' }): Promise<LoopResult | undefined> {
    const loop = await chooseLoop(this.loops, argument, (l) => isLive(l) || isLeft(l));
    // Whatever runs in its folder: the loop may have been replaced a moment ago.
    return loop && this.sidecar.execute<LoopResult>(command.cancel, { folder: loop.folder, when: argument?.when });
  }

  /** Lets the iteration finish, and starts no other. */
  async pause(argument?: LoopArgument): Promise<LoopResult | undefined> {
    const loop = await chooseLoop(this.loops, argument, (l) => isLive(l) && l.state !== 'paused');
    if (!loop) return undefined;
    const result = await this.sidecar.execute<LoopResult>(command.pause, named(loop));
    this.loops.markPausing(loop.loopId, result.state === 'running');
    return result;
  }

  /** Goes on with a paused, waiting, interrupted, failed or capped loop, with new limits if some are given. */
  async resume(argument?: LoopArgument & Limits): Promise<LoopResult | undefined> {
    const loop = await chooseLoop(this.loops, argument, (l) => isResumable(l) || this.loops.isPausing(l));
    if (!loop) return undefined;
    const limits = await this.newLimits(loop, argument, loop.state === 'ended'); // it stopped at one
    if (!limits) return undefined;
    const result = await this.sidecar.execute<LoopResult>(command.resume, { ...named(loop), ...limits });
    this.loops.markPausing(loop.loopId, false);
    return result;
  }

  /** Tells the next run something. */
  async steer(argument?: LoopArgument & { text?: string }): Promise<{ guidanceId?: string } | undefined> {
    const loop = await chooseLoop(this.loops, argument, isLive);
    if (!loop) return undefined;
    const text = argument?.text ?? (await vscode.window.showInputBox({
      title: t('Ralph: steer'), prompt: t('What should the next iteration know?'), ignoreFocusOut: true,
    }));
    return text?.trim() ? this.sidecar.execute(command.steer, { ...named(loop), text }) : undefined;
  }

  async changeLimits(argument?: LoopArgument & Limits): Promise<LoopResult | undefined> {
    const loop = await chooseLoop(this.loops, argument, isLive);
    if (!loop) return undefined;
    const changes = await this.newLimits(loop, argument, true);
    if (!changes || Object.keys(changes).length === 0) return undefined;
    return this.sidecar.execute<LoopResult>(command.update, { ...named(loop), ...changes });
  }

  /** The limits in an argument; without any, the user is asked if ask is set. */
  private async newLimits(loop: LoopStatus, argument: Limits | undefined, ask: boolean): Promise<Limits | undefined> {
    const given = limitsIn(argument);
    if (!ask || Object.keys(given).length > 0) return given;
    return askChanges({ maxIterations: loop.maxIterations, maxCostUsd: loop.cost?.limit, maxDurationMs: loop.time?.limitMs });
  }

  async openStateFile(argument?: LoopArgument): Promise<void> {
    const loop = await chooseLoop(this.loops, argument, (l) => Boolean(l.stateFileUri) && l.state !== 'ended');
    if (loop?.stateFileUri) await vscode.window.showTextDocument(vscode.Uri.parse(loop.stateFileUri));
  }

  /** Opens the file that a loop's session is kept in, also a past loop's. */
  async openSession(argument?: LoopArgument): Promise<void> {
    const file = (await chooseSession(this.loops, argument))?.sessionFileUri;
    if (file) await vscode.window.showTextDocument(vscode.Uri.parse(file));
  }
}

/** The limits in an argument, without what else is in it. */
function limitsIn(argument: Limits | undefined): Limits {
  const { maxIterations, completionPromise, maxCostUsd, maxDurationMs, idleTimeoutMs, maxConsecutiveFailures } = argument ?? {};
  const all = { maxIterations, completionPromise, maxCostUsd, maxDurationMs, idleTimeoutMs, maxConsecutiveFailures };
  return Object.fromEntries(Object.entries(all).filter(([, v]) => v !== undefined));
}
