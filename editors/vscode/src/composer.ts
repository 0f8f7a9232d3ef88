// What a transcript's box does: it talks to the loop, or starts the next one in its folder.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { canOf, doing } from './can';
import { folderUri } from './choose';
import { t } from './l10n';
import type { Loops } from './loops';
import { filesOf } from './mentions';
import { mention as tell } from './notifications';
import type { Chip } from './panel/messages';
import { chipsOf } from './prompt';
import { block } from './show';
import type { Sidecar } from './sidecar';
import type { Before, Starter } from './start';
import { changeable } from './startOptions';
import type { CommandId, LoopParams, LoopResult, Talk } from './wire';

/** Files that are offered for an @. */
const mostFiles = 50;

export class Composer implements vscode.Disposable {
  /** The selection that the user made last in an editor: a click into a transcript takes the editor away. */
  private last: vscode.TextEditor | undefined;
  private readonly subscription = vscode.window.onDidChangeActiveTextEditor((editor) => (this.last = editor ?? this.last));

  constructor(private readonly sidecar: Sidecar, private readonly loops: Loops, private readonly starter: Starter) {
    this.last = vscode.window.activeTextEditor;
  }

  /** What becomes of words for a loop now. */
  talksOf({ loopId }: LoopParams): Talk[] {
    return this.loops.named(loopId)?.talks ?? [];
  }

  /** What runs, or would run, and can be changed. */
  async chips(loop: LoopParams): Promise<Chip[]> {
    const now = this.loops.byId(loop.loopId);
    if (!now?.live) {
      const folder = this.folderOf(loop);
      const start = this.startOf(loop);
      return folder && start ? chipsOf(await this.starter.lookOf(folder, start)) : [];
    }
    const [can, row] = [canOf(now), (label: string) => now.details?.find((d) => d.label === label)?.text];
    const limits = can.includes('update') ? [{ label: 'update', text: row('Limits')?.split(' · ')[0] ?? t('Limits'), title: `${t('Limits')}: ${row('Limits') ?? ''}` }] : [];
    const close = can.includes('detach') ? [{ label: 'detach', text: t('ends with this window'), title: doing('detach')!.title }] : [];
    return [...limits, ...close];
  }

  /** Asks for one thing. */
  async change(loop: LoopParams, label: string): Promise<void> {
    const [what, folder] = [changeable.find((c) => c === label), this.folderOf(loop)];
    if (what && folder) return this.starter.change(folder, what, this.startOf(loop));
    const now = this.loops.byId(loop.loopId);
    if (now && canOf(now).includes(label)) await vscode.commands.executeCommand(doing(label)!.command, loop);
  }

  /** Does with words what their button says; false: that can't be done any more. */
  async send(loop: LoopParams, title: string, text: string): Promise<boolean> {
    const talk = this.talksOf(loop).find((one) => one.title === title);
    const folder = this.folderOf(loop);
    if (!talk || !folder) return false;
    const words = { [talk.key]: text };
    if (talk.command === 'ralph.loop.start') return (await this.starter.startWith(folder, this.startOf(loop), words)) !== undefined;
    const argument = { ...talk.arguments?.[0] as object, ...words };
    const result = await this.sidecar.execute<LoopResult>(talk.command as CommandId, argument);
    tell(result.text);
    return true;
  }

  async mentions(loop: LoopParams, text: string): Promise<string[]> {
    const folder = this.folderOf(loop);
    if (!folder) return [];
    const wanted = text.toLowerCase();
    const fits = (p: string) => (p.toLowerCase().startsWith(wanted) ? 0 : path.posix.basename(p).toLowerCase().startsWith(wanted) ? 1 : p.toLowerCase().includes(wanted) ? 2 : 3);
    const ranked = (await filesOf(folder)).map((p): [number, string] => [fits(p), p]).filter(([rank]) => rank < 3);
    return ranked.sort(([a, p], [b, q]) => a - b || p.split('/').length - q.split('/').length || (p < q ? -1 : 1)).slice(0, mostFiles).map(([, p]) => p);
  }

  /** The selection of the editor, as its place and its lines; '': there is none. */
  selection(loop: LoopParams): string {
    const editors = [this.last, ...vscode.window.visibleTextEditors];
    const editor = editors.find((e) => e && !e.selection.isEmpty && e.document.uri.scheme === 'file');
    const folder = this.folderOf(loop);
    if (!editor || !folder) return '';
    const { document, selection: { start, end } } = editor;
    const name = path.posix.relative(folder.path, document.uri.path);
    const to = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
    const lines = document.getText(new vscode.Range(start.line, 0, to, 0)).replace(/\n$/, '');
    return `@${name.startsWith('..') ? document.uri.fsPath : name}:${start.line + 1}-${to}\n${block(lines, document.languageId)}\n`;
  }

  dispose(): void {
    this.subscription.dispose();
  }

  /** What the next loop takes from this one; undefined: none is begun with words. */
  private startOf({ loopId }: LoopParams): Before | undefined {
    const talk = this.talksOf({ loopId }).find((one) => one.command === 'ralph.loop.start');
    return talk && { loopId, choices: talk.arguments?.[0] ?? {} };
  }

  private folderOf(loop: LoopParams): vscode.Uri | undefined {
    const folder = loop.folder ?? this.loops.folderOf(loop.loopId);
    return folder === undefined ? undefined : folderUri(folder);
  }
}
