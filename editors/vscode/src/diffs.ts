// What a loop changed, next to what it was: one file, or all of an iteration in one editor.
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Changes, Target } from './changes';
import { t } from './l10n';
import { ask } from './notifications';
import type { Moment, Snapshots } from './snapshots';
import type { ChangedFile, ChangesResult } from './wire';

/** As a command has it. review: since it was kept last. */
export interface DiffTarget extends Target { review?: boolean }

interface Sides { file: ChangedFile; before: vscode.Uri; after: vscode.Uri }

export class Diffs {
  constructor(private readonly changes: Changes, private readonly snapshots: Snapshots) {}

  /** Opens what is named: one file on its own, else all. */
  async open(target: DiffTarget): Promise<void> {
    const { result, files } = await this.filesOf(target);
    if (files.length === 0) return tellNothing(result);
    const sides = await Promise.all(files.map((file) => this.sides(result, file, target)));
    const [first] = sides;
    if (target.paths?.length === 1 && first) return this.openOne(first, this.title(first.file, target));
    const all = sides.map(({ file, before, after }) => [after, file.status === 'added' ? undefined : before, isGone(file, after) ? undefined : after]);
    await vscode.commands.executeCommand('vscode.changes', target.iteration === undefined ? t('What Ralph changed') : t('Iteration {0}', target.iteration), all);
  }

  /** Opens a file as it was before the iteration next to what it is now, which can be edited. */
  async compareWithFile(target: DiffTarget): Promise<void> {
    const { result, files: [file] } = await this.filesOf(target);
    if (!file) return tellNothing(result);
    const now = vscode.Uri.parse(file.uri);
    const { before } = await this.sides(result, file, target);
    await this.openOne({ file, before, after: (await isThere(now)) ? now : this.last(result, file) }, t('{0} (before iteration {1}, now)', nameOf(file), target.iteration ?? 1));
  }

  private async filesOf(target: DiffTarget): Promise<{ result: ChangesResult; files: ChangedFile[] }> {
    const result = await this.changes.of(target);
    const { paths, review } = target;
    return { result, files: result.files.filter((f) => paths?.includes(f.path) ?? !(review && f.kept)) };
  }

  /** On the right is the file itself, where no later iteration has changed it: there the editor can revert. */
  private async sides(result: ChangesResult, file: ChangedFile, { iteration, review }: DiffTarget): Promise<Sides> {
    const moment: Moment = { loopId: result.loopId, folder: result.folder };
    const of = (more: Moment) => this.snapshots.uri({ ...moment, ...more }, file.path);
    const was = (more: Moment) => this.snapshots.uri({ ...moment, ...more }, file.from ?? file.path);
    const now = vscode.Uri.parse(file.uri);
    const isLast = iteration === undefined || file.last === true;
    return {
      file,
      before: review ? this.snapshots.base(result, file) : iteration === undefined ? was({ iteration: 0 }) : was({ before: iteration }),
      after: isLast && (await isThere(now)) ? now : iteration === undefined ? this.last(result, file) : of({ iteration }),
    };
  }

  private last({ loopId, folder, iterations }: ChangesResult, file: ChangedFile): vscode.Uri {
    return this.snapshots.uri({ loopId, folder, iteration: iterations.at(-1)?.iteration ?? 0 }, file.path);
  }

  private async openOne({ file, before, after }: Sides, title: string): Promise<void> {
    const lone = !file.binary ? undefined : file.status === 'added' ? after : isGone(file, after) ? before : undefined;
    if (lone) await vscode.commands.executeCommand('vscode.open', lone, undefined, title);
    else await vscode.commands.executeCommand('vscode.diff', before, after, title);
  }

  private title(file: ChangedFile, { iteration, review }: DiffTarget): string {
    if (review) return t('{0} (to review)', nameOf(file));
    return iteration === undefined ? t('{0} (what Ralph changed)', nameOf(file)) : t('{0} (iteration {1})', nameOf(file), iteration);
  }
}

const nameOf = (file: ChangedFile): string => path.posix.basename(file.path);

/** Whether there is nothing on the right. */
const isGone = (file: ChangedFile, after: vscode.Uri): boolean => file.status === 'deleted' && after.scheme !== 'file';

/** Whether it is a file; a link shows where it leads only in a snapshot. */
async function isThere(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then((s) => s.type === vscode.FileType.File, () => false);
}

function tellNothing({ text }: ChangesResult): void {
  void ask('info', `Ralph: ${text}`, []);
}
