// What there is to say about a loop, for the status bar, the tree and notifications.
import { clock, dollars, facts, ofMax } from './format';
import { t } from './l10n';
import type { LoopStatus, StopReason } from './wire';

const live: ReadonlySet<string> = new Set(['starting', 'running', 'waiting', 'paused', 'cancelling']);
const busy: ReadonlySet<string> = new Set(['starting', 'running', 'cancelling']);
const capped: ReadonlySet<string> = new Set(['max_iterations', 'max_cost', 'max_time']);

/** It will go on, at once or when it is told to. */
export const isLive = (l: LoopStatus): boolean => live.has(l.state);

/** An agent is at work. */
export const isBusy = (l: LoopStatus): boolean => busy.has(l.state);

/** It stopped at a limit, and can go on when that is raised. */
export const isCapped = (reason: StopReason | undefined): boolean => reason !== undefined && capped.has(reason);

/** It can be told to go on. */
export const isResumable = (l: LoopStatus): boolean =>
  l.state === 'paused' || l.state === 'waiting' || l.state === 'interrupted' || (l.state === 'ended' && isCapped(l.stopReason));

/** A bad end, apart from what the user wanted and from limits. */
export function isFailure(reason: StopReason | undefined): boolean {
  switch (reason) {
    case undefined: case 'promise': case 'cancelled': case 'state_removed': case 'interrupted':
      return false;
  }
  return !isCapped(reason);
}

/** How a loop ended, in a few words. */
export function ending(reason: StopReason | undefined): string {
  switch (reason) {
    case 'promise': return t('done');
    case 'max_iterations': return t('stopped: iteration limit reached');
    case 'max_cost': return t('stopped: cost limit reached');
    case 'max_time': return t('stopped: time limit reached');
    case 'cancelled': return t('cancelled');
    case 'state_removed': return t('cancelled: state file removed');
    case 'interrupted': return t('interrupted');
    case 'failures': return t('failed: too many failures in a row');
    case 'permission_denied': return t('failed: the agent was refused permission');
    case 'stalled': return t('failed: the agent fell silent');
    case 'backend_error': return t('failed: the agent could not be started');
    case 'bad_state_file': return t("failed: the state file can't be used");
    default: return reason ? t('ended: {0}', reason) : t('ended');
  }
}

/** What a loop's state is called. */
export function stateText(l: LoopStatus): string {
  switch (l.state) {
    case 'starting': return t('starting');
    case 'running': return t('running');
    case 'paused': return t('paused');
    case 'cancelling': return t('stopping');
    case 'interrupted': return t('interrupted');
    case 'ended': return ending(l.stopReason);
    case 'waiting': {
      const why = l.retry?.text ? ` (${l.retry.text})` : '';
      return l.retry?.resumeAt ? t('waiting{0} until {1}', why, clock(l.retry.resumeAt)) : t('waiting{0}', why);
    }
    default: return t('idle');
  }
}

/** $1.42, ~$1.42 when not all of it is known, '' when nothing is. */
export function costText(l: LoopStatus): string {
  if (!l.cost) return '';
  return (l.cost.estimated ? '~' : '') + dollars(l.cost.amount);
}

/** 3/50 · $1.42 */
export const countText = (l: LoopStatus): string => facts(ofMax(Math.max(l.iteration ?? 1, 1), l.maxIterations), costText(l));

/** 1 iteration, 7 iterations */
export const iterationsText = (n: number): string => (n === 1 ? t('1 iteration') : t('{0} iterations', n));

/** The last part of a folder's URI. */
export function folderName(uri: string): string {
  const path = uri.replace(/\/+$/, '');
  const name = path.slice(path.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a % that encodes nothing
  }
}
