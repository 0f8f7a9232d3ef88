// What a start would do, row by row, and the questions by which it is changed.
import * as vscode from 'vscode';
import type { Answers } from './answers';
import { t } from './l10n';
import { iconless, linkable } from './show';
import { limitKeys, type Agent, type DryRunResult, type Offer } from './wire';
import type { Sidecar } from './sidecar';

/** A start that is looked at: what it would be with other answers, and why it would be refused. */
export interface Look { answers: Answers; preview(answers: Answers): Promise<DryRunResult> }

/** What one answer makes of the others, which may have changed while the user was asked. */
export type Edit = (answers: Answers) => Answers;

/** The rows of a preview that can be changed, by the server's labels. */
export const changeable = ['Agent', 'Model', 'Limits', 'Promise', 'Verified by', 'Folder', 'Worktree', 'Permissions', 'Walls', 'On close'] as const;
export type Changeable = (typeof changeable)[number];

const icons: Record<string, string> = {
  Agent: 'hubot', Model: 'symbol-misc', Permissions: 'shield', Limits: 'dashboard', Promise: 'pass', 'Verified by': 'beaker', Folder: 'folder', Prompt: 'markdown', Walls: 'lock', Worktree: 'git-branch', 'On close': 'debug-disconnect',
};

interface Row extends vscode.QuickPickItem { start?: true; change?: Changeable; offer?: Offer; opens?: true }

export class StartOptions {
  constructor(private readonly sidecar: Sidecar) {}

  /**
   * Shows what would run until the user starts it (true) or leaves (false). What is chosen
   * goes to keep, at once. open shows the prompt.
   */
  async confirm(look: Look, keep: (edit: Edit) => void, open: () => void): Promise<boolean> {
    for (let { answers } = look; ;) {
      const chosen = await pick(rows(await look.preview(answers)), t('Ralph: what will run'), t('Enter starts it; choose a row to change it'));
      if (!chosen) return false;
      if (chosen.start) return true;
      if (chosen.opens || chosen.offer) {
        if (chosen.offer) void vscode.commands.executeCommand(chosen.offer.command, ...chosen.offer.arguments ?? []);
        else open();
        return false;
      }
      if (!chosen.change) continue;
      const edit = await this.change(chosen.change, { ...look, answers });
      if (!edit) continue;
      keep(edit);
      answers = edit(answers);
    }
  }

  /** Asks for one thing. Undefined: the user went back. */
  async change(what: Changeable, look: Look): Promise<Edit | undefined> {
    const { answers } = look;
    switch (what) {
      case 'Agent': {
        const backend = await this.agent();
        return backend ? (now) => ({ ...now, backend, model: undefined }) : undefined;
      }
      case 'Model': return this.model(look);
      case 'Limits': {
        const others = (all: Answers): Answers => Object.fromEntries(Object.entries(all).filter(([key]) => !(limitKeys as readonly string[]).includes(key)));
        return type(look, { title: t('Ralph: limits'), value: answers.limitsText, placeHolder: '20, $5, 2h' }, (text) => (now) => ({ ...others(now), limitsText: text || undefined }));
      }
      case 'Promise':
        return type(look, { title: t('Ralph: promise'), value: answers.completionPromise, prompt: t('The loop is done when the agent writes it in <promise> tags. Empty: none.') },
          (text) => (now) => ({ ...now, completionPromise: text }));
      case 'Folder':
      case 'Worktree': return this.place(look);
      case 'On close': {
        const goesOn = (await look.preview(answers)).details.some((d) => d.label === what && d.text.startsWith(onClose().keep));
        return (now) => ({ ...now, onClose: goesOn ? 'end' : 'keep' });
      }
      case 'Permissions': {
        const asks = (permissions: 'agent' | 'ask'): Edit => (now) => ({ ...now, permissions });
        return (await pick([
          { label: t("What the agent's own settings allow"), edit: asks('agent') },
          { label: t('Ask me, each time'), description: t('in this window'), edit: asks('ask') },
        ], t('Ralph: permissions'), t('Who says what the agent may do?'), back))?.edit;
      }
      case 'Walls': {
        const stands = (sandbox: 'workspace' | 'off'): Edit => (now) => ({ ...now, sandbox });
        return (await pick([
          { label: t('Walls around the folder'), description: t('the agent writes only in it'), edit: stands('workspace') },
          { label: t('No walls'), edit: stands('off') },
        ], t('Ralph: walls'), t('Where may the agent write?'), back))?.edit;
      }
      case 'Verified by':
        return type(look, { title: t('Ralph: verify'), value: answers.verify, prompt: t('A command that has to pass before the promise counts. Empty: as the files say.') },
          (text) => (now) => ({ ...now, verify: text || undefined }));
    }
  }

  /** Shows how to install an agent: in a terminal, where Enter is the user's. */
  async install(): Promise<vscode.Terminal | undefined> {
    const missing = (await this.agents()).filter((a) => !a.installed && a.install);
    const chosen = await pick(missing.map((a) => ({ label: `$(cloud-download) ${a.name}`, description: a.install, agent: a })), t('Ralph: install an agent'), t('The command is typed into a terminal; Enter is yours'));
    return chosen && installer(chosen.agent);
  }

  private agents(): Promise<Agent[]> {
    return agentsOf(this.sidecar);
  }

  private async agent(): Promise<string | undefined> {
    const agents = await this.agents();
    const row = (a: Agent) => ({ label: `$(${a.installed ? 'hubot' : 'cloud-download'}) ${a.name}`, description: a.installed ? a.text : a.install, agent: a });
    const rows = [...agents.filter((a) => a.installed), ...agents.filter((a) => !a.installed)].map(row);
    const chosen = await pick(rows, t('Ralph: agent'), t('Which agent runs?'), back);
    if (chosen && !chosen.agent.installed) installer(chosen.agent);
    return chosen?.agent.installed ? chosen.agent.name : undefined;
  }

  /** Asks where it works. */
  private async place(look: Look): Promise<Edit | undefined> {
    const works = (worktree?: true | string, withChanges?: true): Edit => (now) => ({ ...now, worktree, withChanges });
    const chosen = await pick([
      { label: t('In this folder'), edit: works() },
      { label: t('In a new worktree'), description: t('on a branch of its own, from the last commit'), edit: works(true) },
      { label: t('In a new worktree, with what is not committed'), edit: works(true, true) },
      { label: t('In a worktree on a branch...'), edit: undefined },
    ], t('Ralph: folder'), t('Where does it work?'), back);
    if (!chosen || chosen.edit) return chosen?.edit;
    const value = typeof look.answers.worktree === 'string' ? look.answers.worktree : '';
    return type(look, { title: t('Ralph: branch'), value, prompt: t('A new branch, or one that is checked out nowhere.') }, (branch) => works(branch || undefined));
  }

  private async model(look: Look): Promise<Edit | undefined> {
    const uses = (model: string): Edit => (answers) => ({ ...answers, model: model || undefined });
    return type(look, { title: t('Ralph: model'), value: look.answers.model, prompt: t("In the agent's own words. Empty: its choice.") }, uses);
  }
}

/** The agents that are known. */
export async function agentsOf(sidecar: Sidecar): Promise<Agent[]> {
  return (await sidecar.execute<{ agents: Agent[] }>('ralph.agents.list')).agents;
}

const onClose = () => ({ end: t('ends with this window'), keep: t('goes on alone') });

/** The rows of a preview with what becomes of the loop without its window: the server has that only where somebody has said it. */
export function withOnClose(details: DryRunResult['details']): DryRunResult['details'] {
  const label: Changeable = 'On close';
  const said = details.find((d) => d.label === label)?.text ?? 'end';
  return [...details.filter((d) => d.label !== label), { label, text: said.replace(/^(end|keep)/, (value) => onClose()[value as 'end' | 'keep']) }];
}

/** The rows of a start: to start it, what is in its way, what it is. */
function rows({ text, details, problems = [], warnings = [], offers = [] }: DryRunResult): Row[] {
  const { Separator } = vscode.QuickPickItemKind;
  const offered = (all: Offer[]) => all.map((offer) => ({ label: `$(arrow-right) ${offer.title}`, offer }));
  const isRefused = problems.some((p) => p.class === 'error');
  return [
    ...problems.flatMap((p): Row[] => [
      { label: `$(${p.class}) ${iconless(p.text)}` },
      ...offered(p.offers ?? []),
    ]),
    ...(isRefused ? [] : [{ label: `$(play) ${t('Start')}`, description: iconless(text), start: true as const }]),
    ...(isRefused ? [] : offered(offers)),
    { label: '', kind: Separator },
    ...details.map(({ label, text }): Row => ({
      label: `$(${icons[label] ?? 'dash'}) ${label}`, description: iconless(text), change: changeable.find((c) => c === label), ...(label === 'Prompt' && { opens: true }),
    })),
    ...warnings.map((w): Row => ({ label: `$(warning) ${iconless(w)}` })),
  ];
}

const back = [vscode.QuickInputButtons.Back];

function pick<T extends vscode.QuickPickItem>(items: T[], title: string, placeholder: string, buttons: vscode.QuickInputButton[] = []): Promise<T | undefined> {
  const box = vscode.window.createQuickPick<T>();
  Object.assign(box, { items, title, placeholder, buttons, matchOnDescription: true, ignoreFocusOut: true });
  return answered(box, () => box.selectedItems[0]);
}

/** Asks for a text that the server accepts. */
async function type(look: Look, options: vscode.InputBoxOptions, editOf: (text: string) => Edit): Promise<Edit | undefined> {
  const box = vscode.window.createInputBox();
  Object.assign(box, { ...options, value: options.value ?? '', placeholder: options.placeHolder, buttons: back, ignoreFocusOut: true });
  const check = async () => {
    const text = box.value;
    const problem = await look.preview(editOf(text.trim())(look.answers)).then(() => '', (e: unknown) => (e instanceof Error ? e.message : String(e)));
    if (box.value === text) box.validationMessage = linkable(problem);
    return !problem;
  };
  box.onDidChangeValue(check);
  const text = await answered(box, () => box.value.trim(), check);
  return text === undefined ? undefined : editOf(text);
}

/** The answer of a box; undefined when the user leaves it, or goes back. An answer counts even if the box is gone before it is checked. */
function answered<T>(box: vscode.QuickPick<vscode.QuickPickItem> | vscode.InputBox, answer: () => T | undefined, check: () => Promise<boolean> = () => Promise.resolve(true)): Promise<T | undefined> {
  return new Promise((resolve) => {
    const end = (value: T | undefined) => {
      resolve(value);
      box.dispose();
    };
    let accepted: Promise<T | undefined> | undefined;
    const accept = async () => {
      const given = answer();
      return (await check()) ? given : undefined;
    };
    box.onDidAccept(async () => {
      const given = await (accepted = accept());
      if (given !== undefined) end(given);
    });
    box.onDidTriggerButton(() => end(undefined));
    box.onDidHide(async () => end(await accepted));
    box.show();
  });
}

function installer({ name, install = '' }: Agent): vscode.Terminal {
  const terminal = vscode.window.createTerminal({ name: t('Install {0}', name), iconPath: new vscode.ThemeIcon('cloud-download') });
  terminal.show();
  terminal.sendText(install, false);
  return terminal;
}
