// What the user is told in a notification, apart from how it is shown.
import { dollars, duration, facts } from './format';
import { t } from './l10n';
import { ending, folderName, isCapped, isFailure, iterationsText } from './loopText';
import { isLeaving } from './states';
import type { End, Limits, LoopStatus } from './wire';

export type ActionId = 'output' | 'changes' | 'raise' | 'resume' | 'discard' | 'later' | 'doctor' | 'state';
export interface Notice {
  severity: 'information' | 'warning' | 'error';
  message: string;
  /** The first one runs, raises and loses nothing. */
  actions: { id: ActionId; title: string }[];
}

const output = () => ({ id: 'output' as const, title: t('Show Output') });

/** A loop's end. loop is undefined when its status isn't known. */
export function endNotice(end: End, loop: LoopStatus | undefined): Notice | undefined {
  if (end.stopReason === 'cancelled' || end.stopReason === 'interrupted') return undefined; // the user's own doing
  if (isLeaving(end.stopReason)) return undefined; // leftNotice tells it, with what can be done
  const where = loop ? ` (${folderName(loop.folder)})` : '';
  const what = end.stopReason === 'promise' && end.promise ? t('done: {0}', end.promise) : ending(end.stopReason);
  const denials = (end.denials ?? []).map((d) => facts(d.tool, d.detail)).join(', ');
  const message = facts(`Ralph ${what}${where}`, iterationsText(end.iterations), end.costUsd === undefined ? '' : dollars(end.costUsd), duration(end.durationMs), denials || end.error);
  if (isCapped(end.stopReason)) {
    return { severity: 'warning', message, actions: [output(), { id: 'raise', title: t('Raise to {0} and Go On', limitText(raised(end, loop))) }] };
  }
  if (isFailure(end.stopReason)) {
    const fix = end.stopReason === 'bad_state_file' ? { id: 'state' as const, title: t('Open State File') }
      : end.stopReason === 'backend_error' ? { id: 'doctor' as const, title: t('Run Doctor') } : undefined;
    return { severity: 'error', message, actions: fix ? [output(), fix] : [output()] };
  }
  return { severity: 'information', message, actions: [output(), { id: 'changes', title: t('Show Changed Files') }] };
}

/** A loop that nobody drives any more: it was interrupted, or has failed. */
export function leftNotice(loop: LoopStatus): Notice {
  const { folder, text = '', error } = loop;
  return {
    severity: loop.state === 'failed' ? 'error' : 'warning',
    message: t('A Ralph loop in {0}: {1}', folderName(folder), facts(text, error)),
    actions: [{ id: 'later', title: t('Later') }, { id: 'resume', title: t('Resume') }, { id: 'discard', title: t('Discard') }],
  };
}

/** The limit that was reached, doubled until there is room. */
export function raised(end: End, loop: LoopStatus | undefined): Limits {
  switch (end.stopReason) {
    case 'max_cost': return { maxCostUsd: doubled(loop?.cost?.limit ?? end.costUsd ?? 1, loop?.cost?.amount) };
    case 'max_time': return { maxDurationMs: doubled(loop?.time?.limitMs ?? end.durationMs, loop?.time?.spentMs) };
    default: return { maxIterations: doubled(loop?.maxIterations ?? end.iterations, end.iterations) };
  }
}

function doubled(limit: number, used = 0): number {
  return limit * 2 ** Math.max(1, Math.floor(Math.log2(used / limit)) + 1);
}

function limitText({ maxCostUsd, maxDurationMs, maxIterations }: Limits): string {
  if (maxCostUsd !== undefined) return dollars(maxCostUsd);
  if (maxDurationMs !== undefined) return duration(maxDurationMs);
  return iterationsText(maxIterations ?? 0);
}
