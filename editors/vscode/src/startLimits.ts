// Asks about a loop's limits; each question shows what would be without an answer.
import * as vscode from 'vscode';
import * as config from './config';
import { t } from './l10n';
import { changeable, changes, questions } from './questions';
import type { DryRunResult, Limits } from './wire';

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
    Object.assign(limits, changes(q, answer));
  }
  return limits;
}

/** Asks for a change of limits of a loop that is there; {} for an unchanged answer. Undefined: the user left. */
export async function askChanges(now: Limits): Promise<Limits | undefined> {
  const items = changeable(now).map((q) => ({ label: q.prompt, description: description(q.key, q.value), question: q }));
  const picked = await vscode.window.showQuickPick(items, { title: t('Ralph: change a limit') });
  if (!picked) return undefined;
  const q = picked.question;
  const answer = await vscode.window.showInputBox({ title: t('Ralph: change a limit'), prompt: q.prompt, value: q.value, validateInput: q.check });
  return answer === undefined ? undefined : changes(q, answer);
}

/** What is now; a promise isn't known. */
function description(key: keyof Limits, value: string): string {
  return key === 'completionPromise' ? '' : value || t('none');
}
