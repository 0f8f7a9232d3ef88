// The questions about a loop's limits; each shows what would be without an answer.
import * as vscode from 'vscode';
import * as config from './config';
import { dollars } from './format';
import { t } from './l10n';
import type { DryRunResult, Limits } from './wire';

const minute = 60_000; // milliseconds

interface Question {
  key: keyof Limits;
  prompt: string;
  value: string;
  check?(value: string): string | undefined;
  read(value: string): Limits;
}

/** Asks what the settings don't skip and the argument doesn't say. Undefined: the user left. */
export async function askLimits(effective: DryRunResult, given: Limits): Promise<Limits | undefined> {
  const open = questions(effective).filter((q) => given[q.key] === undefined && config.asks(q.key));
  const limits: Limits = {};
  for (const [i, q] of open.entries()) {
    const answer = await vscode.window.showInputBox({
      title: t('Ralph: start a loop ({0}/{1})', i + 1, open.length), prompt: q.prompt, value: q.value,
      ignoreFocusOut: true, validateInput: q.check,
    });
    if (answer === undefined) return undefined;
    if (answer.trim() !== q.value) Object.assign(limits, q.read(answer.trim()));
  }
  return limits;
}

/** The questions for a change of limits of a running loop. */
export async function askChanges(now: Limits): Promise<Limits | undefined> {
  const items = changeable(now).map((q) => ({ label: q.prompt, description: q.value || t('none'), question: q }));
  const picked = await vscode.window.showQuickPick(items, { title: t('Ralph: change a limit') });
  if (!picked) return undefined;
  const q = picked.question;
  const answer = await vscode.window.showInputBox({ title: t('Ralph: change a limit'), prompt: q.prompt, value: q.value, validateInput: q.check });
  return answer === undefined ? undefined : q.read(answer.trim());
}

function questions({ limits: l }: DryRunResult): Question[] {
  return [promise(l.completionPromise), iterations(l.maxIterations), cost(l.maxCostUsd)];
}

function changeable(l: Limits): Question[] {
  return [iterations(l.maxIterations), cost(l.maxCostUsd), time(l.maxDurationMs), promise(l.completionPromise)];
}

function promise(now = ''): Question {
  return {
    key: 'completionPromise', value: now, read: (completionPromise) => ({ completionPromise }),
    prompt: t('Completion promise: the loop is done when the agent writes it in <promise> tags. Empty: none.'),
  };
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
    key: 'maxDurationMs', value: String(Math.round(now / minute)), check: wholeNumber, read: (v) => ({ maxDurationMs: Number(v) * minute }),
    prompt: t('Minutes of running at most, without waits and pauses; 0 is unlimited'),
  };
}

function wholeNumber(v: string): string | undefined {
  return /^\d{1,9}$/.test(v.trim()) ? undefined : t('a whole number, please');
}

function amount(v: string): string | undefined {
  return v.trim() === '' || (Number.isFinite(Number(v)) && Number(v) >= 0) ? undefined : t('a number of dollars, please');
}
