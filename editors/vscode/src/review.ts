// Keep and undo: of a loop, an iteration or some files.
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Changes, Target } from './changes';
import { t } from './l10n';
import { ask, mention } from './notifications';
import { pick } from './pick';
import { iconless } from './show';
import type { Sidecar } from './sidecar';
import type { Moment } from './snapshots';
import { withChange, type LineChange } from './sourceControl';
import type { ChangedFile, KeepResult, UndoResult } from './wire';

/** How many files a question lists. */
const listed = 10;

type Refused = UndoResult['refused'][number];

export class Review {
  constructor(private readonly sidecar: Sidecar, private readonly changes: Changes) {}

  /** Marks files as reviewed, or takes the mark away. */
  async keep(target: Target, kept = true): Promise<KeepResult> {
    // An iteration's own files: those that it didn't change are another's.
    const paths = target.paths ?? (target.iteration === undefined ? undefined : (await this.changes.of(target)).files.map((f) => f.path));
    const { loopId, folder, iteration } = target;
    const result = await this.sidecar.execute<KeepResult>('ralph.loop.keep', { loopId, folder, iteration, paths, kept });
    this.changes.forget();
    mention(result.text);
    return result;
  }

  /** Marks a changed block as reviewed: what is still to review is compared with the file that has it. */
  async keepChange(uri: vscode.Uri, original: vscode.Uri, change: LineChange): Promise<KeepResult | undefined> {
    const { loopId, folder, iteration, path: name } = JSON.parse(original.query) as Moment & { path: string };
    if (iteration !== undefined) return void mention(t('a file that was renamed is kept as a whole'));
    const result = await this.sidecar.execute<KeepResult>('ralph.loop.keep', { loopId, folder, paths: [name], text: await withChange(uri, original, change) });
    this.changes.forget();
    mention(result.text);
    return result;
  }

  /** Takes changes back, once the user agrees to what that would do; with ask: false at once. */
  async undo(target: Target & { ask?: boolean }): Promise<UndoResult | undefined> {
    const { loopId, folder, iteration, paths, ask: asks = true } = target;
    const result = await this.changes.of(target);
    const argument = { loopId, folder, ...(iteration === undefined ? { since: 1 } : { iteration }), paths: paths && withOldNames(result.files, paths) };
    return this.take('ralph.loop.undo', argument, asks);
  }

  /** Takes the last undo back. */
  redo({ loopId, folder }: Target): Promise<UndoResult | undefined> {
    return this.take('ralph.loop.redo', { loopId, folder });
  }

  /** Runs an undo or a redo, and says what came of it. Asked is the user who wants to be, or who has unsaved changes in such a file. */
  async take(id: 'ralph.loop.undo' | 'ralph.loop.redo', argument: Target, asks = false): Promise<UndoResult | undefined> {
    const plan = await this.sidecar.execute<UndoResult>(id, { ...argument, dryRun: true });
    if (asks && plan.undone.length === 0) return this.tell(plan);
    const root = vscode.Uri.parse((await this.changes.of({ loopId: argument.loopId, folder: argument.folder })).folder);
    const unsaved = unsavedOf([...plan.undone, ...plan.merged ?? []].map((name) => vscode.Uri.joinPath(root, name)));
    if ((asks || unsaved.length > 0) && !(await agrees(plan, unsaved))) return undefined;
    for (const document of unsaved) {
      if (!(await document.save())) throw new Error(t('{0} could not be saved, so nothing was done.', path.basename(document.fileName)));
    }
    const result = await this.sidecar.execute<UndoResult>(id, argument);
    this.changes.forget();
    return this.tell(result);
  }

  private tell(result: UndoResult): UndoResult {
    const { refused, text, class: kind = 'ok', offers = [] } = result;
    const [first, ...more] = refused;
    const choose = { title: t('Show What Is Left'), command: 'ralph.showRefused', arguments: [refused] };
    if (more.length > 0) void ask(kind, `Ralph: ${text}`, [choose, ...offers]);
    else void ask(kind, `Ralph: ${[text, first?.text].filter(Boolean).join('. ')}`, [...first?.offers ?? [], ...offers]);
    return result;
  }
}

/** Lets the user pick a file that was left as it is, and what to do with it. */
export async function showRefused(refused: Refused[]): Promise<void> {
  const items = refused.map((r) => ({ label: iconless(r.path), description: r.reason, r }));
  const picked = await pick(items, { title: t('Left as they are'), matchOnDescription: true });
  if (picked) await ask('warning', `Ralph: ${picked.r.text}`, picked.r.offers ?? []);
}

/** The names that renamed files had, too: else only half of a renaming is undone. */
function withOldNames(files: ChangedFile[], paths: string[]): string[] {
  return [...paths, ...files.flatMap((f) => (f.from && paths.includes(f.path) ? [f.from] : []))];
}

function unsavedOf(uris: vscode.Uri[]): vscode.TextDocument[] {
  const names = new Set(uris.map((uri) => uri.fsPath));
  return vscode.workspace.textDocuments.filter((d) => d.isDirty && d.uri.scheme === 'file' && names.has(d.uri.fsPath));
}

async function agrees(plan: UndoResult, unsaved: vscode.TextDocument[]): Promise<boolean> {
  const files = plan.undone.slice(0, listed);
  if (plan.undone.length > listed) files.push(t('... {0} more', plan.undone.length - listed));
  const left = plan.refused.slice(0, listed).map((r) => r.text ?? r.path);
  const saved = unsaved.map((d) => t('{0} has changes that are not saved. They are saved first.', path.basename(d.fileName)));
  const undo = unsaved.length > 0 ? t('Save and Go On') : t('Undo');
  const detail = [files, left, saved].filter((lines) => lines.length > 0).map((lines) => lines.join('\n')).join('\n\n');
  return (await vscode.window.showWarningMessage(`Ralph: ${plan.text}`, { modal: true, detail }, undo)) === undo;
}
