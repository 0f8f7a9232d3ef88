// What there is to say about a loop, for the status bar, the tree and notifications.
import { dollars, facts, ofMax } from './format';
import { t } from './l10n';
import { factsOf } from './states';
import type { LoopStatus } from './wire';

export { ending, isCapped, isFailure } from './states';

/** It will go on, at once or when it is told to. */
export const isLive = (l: LoopStatus): boolean => factsOf(l).live === true;

/** An agent is at work. */
export const isBusy = (l: LoopStatus): boolean => factsOf(l).busy === true;

/** Nobody drives it; it can be continued or discarded. */
export const isLeft = (l: LoopStatus): boolean => factsOf(l).left === true;

/** It can be told to go on. */
export const isResumable = (l: LoopStatus): boolean => factsOf(l).commands.includes('resume');

/** What a loop's state is called. */
export const stateText = (l: LoopStatus): string => factsOf(l).text(l);

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
