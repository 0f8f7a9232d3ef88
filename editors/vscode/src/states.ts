// What there is to know of a loop in each of its states, once for all that shows it.
import { clock } from './format';
import { t } from './l10n';
import type { LoopState, LoopStatus, StopReason } from './wire';

type Colour = 'none' | 'warning' | 'error';
export type Command = 'pause' | 'resume' | 'cancel' | 'discard' | 'steer' | 'start';

export interface StateFacts {
  /** It will go on, at once or when it is told to. */
  live?: boolean;
  /** An agent is at work. */
  busy?: boolean;
  /** Nobody drives it; it can be continued or discarded. */
  left?: boolean;
  /** Without $( and ). */
  icon: string;
  colour: Colour;
  /** What the state is called. */
  text(l: LoopStatus): string;
  /** What can be done, apart from looking at it. */
  commands: Command[];
  /** How the menus of package.json know it, behind ralph.loop. */
  context: string;
}

const capped: ReadonlySet<string> = new Set(['max_iterations', 'max_cost', 'max_time']);

/** It stopped at a limit, and can go on when that is raised. */
export const isCapped = (reason: StopReason | undefined): boolean => reason !== undefined && capped.has(reason);

/** Its end leaves a loop that has failed, and can be continued. */
export const isLeaving = (reason: StopReason): boolean => reason === 'failures' || reason === 'stalled' || reason === 'permission_denied';

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

function waiting(l: LoopStatus): string {
  const why = l.retry?.text ? ` (${l.retry.text})` : '';
  return l.retry?.resumeAt ? t('waiting{0} until {1}', why, clock(l.retry.resumeAt)) : t('waiting{0}', why);
}

const ended = (l: LoopStatus): string => ending(l.stopReason);

/** Every state has to be here, or this doesn't compile. */
export const states: Record<Exclude<LoopState, 'ended'>, StateFacts> & { ended(l: LoopStatus): StateFacts } = {
  idle: { icon: 'circle-outline', colour: 'none', text: () => t('idle'), commands: ['start'], context: 'idle' },
  starting: { live: true, busy: true, icon: 'sync~spin', colour: 'none', text: () => t('starting'), commands: ['cancel', 'pause', 'steer'], context: 'running' },
  running: { live: true, busy: true, icon: 'sync~spin', colour: 'none', text: () => t('running'), commands: ['cancel', 'pause', 'steer'], context: 'running' },
  cancelling: { live: true, busy: true, icon: 'sync~spin', colour: 'none', text: () => t('stopping'), commands: [], context: 'cancelling' },
  waiting: { live: true, icon: 'watch', colour: 'warning', text: waiting, commands: ['resume', 'cancel', 'steer'], context: 'waiting' },
  paused: { live: true, icon: 'debug-pause', colour: 'none', text: () => t('paused'), commands: ['resume', 'cancel', 'steer'], context: 'paused' },
  interrupted: { left: true, icon: 'debug-disconnect', colour: 'warning', text: () => t('interrupted'), commands: ['resume', 'discard'], context: 'interrupted' },
  failed: { left: true, icon: 'error', colour: 'error', text: ended, commands: ['resume', 'discard'], context: 'failed' },
  ended({ stopReason: reason }) {
    if (reason === 'promise') return { icon: 'check', colour: 'none', text: ended, commands: ['start'], context: 'ended' };
    if (isCapped(reason)) return { icon: 'warning', colour: 'warning', text: ended, commands: ['resume', 'start'], context: 'capped' };
    const failed = isFailure(reason);
    return { icon: failed ? 'error' : 'circle-slash', colour: failed ? 'error' : 'none', text: ended, commands: ['start'], context: 'ended' };
  },
};

/** What there is to know of a loop; of a state that isn't known, as of none. */
export function factsOf(l: LoopStatus): StateFacts {
  return l.state === 'ended' ? states.ended(l) : states[l.state] ?? states.idle;
}
