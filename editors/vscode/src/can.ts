// What can be done with a loop, by the names that the server has for it.
import { t } from './l10n';
import type { LoopStatus, Offer, PastLoop } from './wire';

export interface Doing { command: string; icon: string; title: string }

export const canOf = (l: LoopStatus | PastLoop | undefined): string[] => l?.can ?? [];

/** Undefined for what only a later server knows. */
export function doing(can: string): Doing | undefined {
  const all: Record<string, Doing> = {
    start: { command: 'ralph.start', icon: 'play', title: t('Start') },
    cancel: { command: 'ralph.cancel', icon: 'debug-stop', title: t('Cancel') },
    discard: { command: 'ralph.cancel', icon: 'trash', title: t('Discard') },
    pause: { command: 'ralph.pause', icon: 'debug-pause', title: t('Pause after this iteration') },
    next: { command: 'ralph.next', icon: 'debug-step-over', title: t('Next iteration') },
    detach: { command: 'ralph.detach', icon: 'debug-disconnect', title: t('Let it go on alone') },
    answer: { command: 'ralph.answer', icon: 'question', title: t('Answer...') },
    resume: { command: 'ralph.resume', icon: 'debug-continue', title: t('Resume') },
    steer: { command: 'ralph.steer', icon: 'comment', title: t('Steer...') },
    open: { command: 'ralph.openStateFile', icon: 'go-to-file', title: t('Open state file') },
    fetch: { command: 'ralph.fetch', icon: 'cloud-download', title: t('Fetch Its Branch') },
    update: { command: 'ralph.changeLimits', icon: 'dashboard', title: t('Change limits...') },
    review: { command: 'ralph.openChanges', icon: 'diff-multiple', title: t('Review changes') },
    undo: { command: 'ralph.undoChanges', icon: 'discard', title: t('Undo changes...') },
    again: { command: 'ralph.startAgain', icon: 'debug-rerun', title: t('Start again') },
  };
  return all[can];
}

/** What a loop must be able to for an offer of a command; any other can always be taken. */
const needs: Partial<Record<string, string[]>> = {
  'ralph.loop.resume': ['resume'], 'ralph.loop.cancel': ['cancel', 'discard'], 'ralph.loop.update': ['update'], 'ralph.loop.pause': ['pause'], 'ralph.loop.land': ['land'], 'ralph.loop.fetch': ['fetch'],
};

/** Whether an offer that a loop made once can still be taken, by what can be done with the loop now. */
export const isPossible = (offer: Offer, can: string[]): boolean => needs[offer.command]?.some((one) => can.includes(one)) ?? true;

/** A button of a transcript. The title is read out, and has the label in it. */
export interface PageButton { command: string; icon: string; label: string; title: string }

/** The buttons beside the box of a loop's transcript: what can be done with that loop now. */
export function buttonsOf(l: LoopStatus | PastLoop | undefined): PageButton[] {
  const labels: Record<string, string> = { resume: t('Resume'), pause: t('Pause'), next: t('Next'), cancel: t('Stop'), review: '', undo: '', again: '' };
  const titles: Record<string, string> = { cancel: t('Stop the loop') }; // beside a box for text "Cancel" could be about the text
  return Object.entries(labels).flatMap(([one, label]) => {
    const does = canOf(l).includes(one) ? doing(one) : undefined;
    return does ? [{ command: does.command, icon: does.icon, label: label || does.title, title: titles[one] ?? does.title }] : [];
  });
}
