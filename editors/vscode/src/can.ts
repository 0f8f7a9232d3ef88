// What can be done with a loop, by the names that the server has for it.
import { t } from './l10n';

export interface Doing { command: string; icon: string; title: string }

/** Undefined for what only a later server knows. */
export function doing(can: string): Doing | undefined {
  const all: Record<string, Doing> = {
    start: { command: 'ralph.start', icon: 'play', title: t('Start') },
    cancel: { command: 'ralph.cancel', icon: 'debug-stop', title: t('Cancel') },
    discard: { command: 'ralph.cancel', icon: 'trash', title: t('Discard') },
    pause: { command: 'ralph.pause', icon: 'debug-pause', title: t('Pause after this iteration') },
    next: { command: 'ralph.next', icon: 'debug-step-over', title: t('Next iteration') },
    answer: { command: 'ralph.answer', icon: 'question', title: t('Answer...') },
    resume: { command: 'ralph.resume', icon: 'debug-continue', title: t('Resume') },
    steer: { command: 'ralph.steer', icon: 'comment', title: t('Steer...') },
    open: { command: 'ralph.openStateFile', icon: 'go-to-file', title: t('Open state file') },
    update: { command: 'ralph.changeLimits', icon: 'dashboard', title: t('Change limits...') },
  };
  return all[can];
}
