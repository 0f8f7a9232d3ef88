// Asks about a new loop's limits; each question shows what would be without an answer.
import * as vscode from 'vscode';
import * as config from './config';
import { t } from './l10n';
import type { DryRunResult, StartParams } from './wire';

type Key = 'completionPromise' | 'maxIterations' | 'maxCostUsd';

const prompts = (): Record<Key, string> => ({
  completionPromise: t('Completion promise: the loop is done when the agent writes it in <promise> tags. Empty: none.'),
  maxIterations: t('Iterations at most; 0 is unlimited'),
  maxCostUsd: t('Dollars at most; 0 is unlimited'),
});

/** The flags of the limits that are typed: the server reads them. */
const flags: Partial<Record<Key, string>> = { maxIterations: '--max-iterations', maxCostUsd: '--max-cost' };

/** What the server says against a start; undefined: nothing. */
type Check = (start: StartParams) => Promise<string | undefined>;

/** Asks what the settings don't skip and the start doesn't say; returns the start with it. Undefined: the user left. */
export async function askLimits({ limits: now }: DryRunResult, start: StartParams, check: Check): Promise<StartParams | undefined> {
  const open = (Object.entries(prompts()) as [Key, string][]).filter(([key]) => start[key] === undefined && config.asks(key));
  for (const [i, [key, prompt]] of open.entries()) {
    const value = String(now[key] ?? (flags[key] ? 0 : ''));
    const before = start;
    const answered = (text: string): StartParams => {
      const answer = text.trim();
      if (answer === value) return before; // where the value comes from stays as it is
      const flag = flags[key];
      return flag ? { ...before, text: [before.text, `${flag}=${quoted(answer)}`].filter(Boolean).join(' ') } : { ...before, [key]: answer };
    };
    const answer = await vscode.window.showInputBox({
      title: t('Ralph: start a loop ({0}/{1})', i + 1, open.length), prompt, value, ignoreFocusOut: true,
      validateInput: async (text) => check(answered(text)),
    });
    if (answer === undefined) return undefined;
    start = answered(answer);
  }
  return start;
}

/** One word of a start's text, which is quoted as in a shell. */
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
