// What agents wait to be told, and how their user answers.
import * as vscode from 'vscode';
import { chooseLoop, type LoopArgument } from './choose';
import { t } from './l10n';
import type { Loops } from './loops';
import type { Sidecar } from './sidecar';
import { command, type Answer, type LoopParams, type Question } from './wire';

/** Answers a question of a loop; without an answer, the user chooses one. */
export async function answer(sidecar: Sidecar, loops: Loops, argument?: LoopArgument & Partial<Answer>): Promise<void> {
  const loop = await chooseLoop(loops, argument, (l) => Boolean(l.questions));
  if (!loop) return;
  const open = (loop.questions ?? []).filter((q) => !argument?.id || q.id === argument.id);
  const question = open.length > 1 ? (await vscode.window.showQuickPick(open.map((q) => ({ label: q.title, q })), { title: t('Which question?') }))?.q : open[0];
  if (!question) {
    if (open.length === 0) void vscode.window.showInformationMessage(t('That needs no answer any more.'));
    return;
  }
  const said = await chosen(question, argument);
  if (said) await sidecar.execute(command.answer, said);
}

/** What the user says to a question, as far as it isn't said already. */
async function chosen(q: Question, given: Partial<Answer> = {}): Promise<(LoopParams & Partial<Answer>) | undefined> {
  const all: LoopParams & Partial<Answer> = { loopId: q.loopId, folder: q.folder, id: q.id, answer: given.answer, text: given.text };
  if (!all.answer) {
    const write = q.kind === 'input' ? [{ label: t('Write an answer...'), argument: { ...all, answer: 'value' as const } }] : [];
    const offers = (q.offers ?? []).map((o) => ({ label: o.title, argument: o.arguments?.[0] as Partial<Answer> }));
    const picked = await vscode.window.showQuickPick([...offers, ...write], { title: q.text, placeHolder: q.detail?.split('\n')[0], ignoreFocusOut: true });
    if (!picked) return undefined;
    Object.assign(all, picked.argument);
  }
  if (all.text === undefined && all.answer === 'value') {
    all.text = await vscode.window.showInputBox({ title: q.text, prompt: q.detail, placeHolder: q.placeholder, ignoreFocusOut: true });
    return all.text === undefined ? undefined : all;
  }
  if (all.text === undefined && all.answer === 'deny' && q.kind === 'permission') {
    all.text = await vscode.window.showInputBox({ title: t('Denied: {0}', q.title), prompt: t('What should the agent know? Enter alone tells it only that you said no.'), ignoreFocusOut: true });
  }
  return all;
}
