// The questions about a loop's limits, apart from how they are asked.
import { dollars } from './format';
import { t } from './l10n';
import type { DryRunResult, Limits } from './wire';

const minute = 60_000; // milliseconds

export interface Question {
  key: keyof Limits;
  prompt: string;
  /** What would be without an answer. */
  value: string;
  check?(value: string): string | undefined;
  read(value: string): Limits;
}

/** What an answer changes: an unchanged one nothing, as its text may be less exact than what is. */
export function changes(q: Question, answer: string): Limits {
  return answer.trim() === q.value.trim() ? {} : q.read(answer.trim());
}

/** Before a start. */
export function questions({ limits: l }: Pick<DryRunResult, 'limits'>): Question[] {
  return [
    promise(t('Completion promise: the loop is done when the agent writes it in <promise> tags. Empty: none.'), l.completionPromise),
    iterations(l.maxIterations), cost(l.maxCostUsd),
  ];
}

/** For a loop that is there; its promise isn't known. */
export function changeable(l: Limits): Question[] {
  return [
    iterations(l.maxIterations), cost(l.maxCostUsd), time(l.maxDurationMs),
    promise(t('Completion promise: the loop is done when the agent writes it in <promise> tags. Empty: as it is.')),
  ];
}

function promise(prompt: string, now = ''): Question {
  return { key: 'completionPromise', prompt, value: now, read: (completionPromise) => ({ completionPromise }) };
}

function iterations(now = 0): Question {
  return {
    key: 'maxIterations', value: String(now), check: wholeNumber, read: (v) => ({ maxIterations: Number(v) }),
    prompt: t('Iterations at most; 0 is unlimited'),
  };
}

function cost(now = 0): Question {
  return {
    key: 'maxCostUsd', value: now ? String(now) : '', check: amount, read: (v) => ({ maxCostUsd: Number(v || 0) }),
    prompt: now ? t('Dollars at most, now {0}; empty is unlimited', dollars(now)) : t('Dollars at most; empty is unlimited'),
  };
}

function time(now = 0): Question {
  return {
    key: 'maxDurationMs', value: minutes(now), check: decimal, read: (v) => ({ maxDurationMs: milliseconds(Number(v)) }),
    prompt: t('Minutes of running at most, without waits and pauses; 0 is unlimited'),
  };
}

/** Minutes with up to two decimals, more where these would say 0: that is unlimited. */
function minutes(ms: number): string {
  const n = ms / minute;
  return String(Number(n.toFixed(2)) || Number(n.toPrecision(2)));
}

/** As milliseconds; only no minutes at all are 0. */
function milliseconds(n: number): number {
  return n > 0 ? Math.max(1, Math.round(n * minute)) : 0;
}

function wholeNumber(v: string): string | undefined {
  return /^\d{1,9}$/.test(v.trim()) ? undefined : t('a whole number, please');
}

function decimal(v: string): string | undefined {
  return /^\d{1,9}(\.\d{1,9})?$/.test(v.trim()) ? undefined : t('a number of minutes, please');
}

function amount(v: string): string | undefined {
  return v.trim() === '' || (Number.isFinite(Number(v)) && Number(v) >= 0) ? undefined : t('a number of dollars, please');
}
