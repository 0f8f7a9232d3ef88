// Asks about a new loop's limits; each question shows what would be without an answer.
import * as vscode from 'vscode';
import * as config from './config';
import { t } from './l10n';
import type { DryRunResult, Limits } from './wire';

type Key = 'completionPromise' | 'maxIterations' | 'maxCostUsd';

const prompts = (): Record<Key, string> => ({
  completionPromise: t('Completion promise: the loop is done when the agent writes it in <promise> tags. Empty: none.'),
  maxIterations: t('Iterations at most; 0 is unlimited'),
  maxCostUsd: t('Dollars at most; 0 is unlimited'),
});

/** Asks what the settings don't skip and the argument doesn't say. Undefined: the user left. */
export async function askLimits({ limits: now }: DryRunResult, given: Limits): Promise<Limits | undefined> {
  const open = (Object.entries(prompts()) as [Key, string][]).filter(([key]) => given[key] === undefined && config.asks(key));
  const limits: Limits = {};
  for (const [i, [key, prompt]] of open.entries()) {
    const isText = key === 'completionPromise';
    const value = String(now[key] ?? (isText ? '' : 0));
    const answer = await vscode.window.showInputBox({
      title: t('Ralph: start a loop ({0}/{1})', i + 1, open.length), prompt, value, ignoreFocusOut: true,
      validateInput: (text) => (isText || Number(text.trim()) >= 0 ? undefined : t('a number, please')),
    });
    if (answer === undefined) return undefined;
    // An unchanged answer says nothing: where the value comes from stays as it is.
    if (answer.trim() !== value) Object.assign(limits, { [key]: isText ? answer.trim() : Number(answer) });
  }
  return limits;
}
