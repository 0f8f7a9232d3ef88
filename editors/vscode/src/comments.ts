// Remarks on what a loop changed, by the editor's own comments: they are collected, and sent together as guidance.
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Changes } from './changes';
import { guidanceOf, type Remark } from './commentText';
import type { Composer } from './composer';
import { t } from './l10n';
import { mention } from './notifications';
import { scheme, type Moment, type Snapshots } from './snapshots';
import type { LoopParams } from './wire';

interface Reply { thread: vscode.CommentThread; text: string }
/** The loop that a document shows a change of, the file's path in its folder, and the moment. */
interface Shown { loop: LoopParams & { loopId: string }; path: string; when: string; before?: vscode.Uri }

export class Comments implements vscode.Disposable {
  private readonly controller = vscode.comments.createCommentController('ralph', t('Remarks for Ralph'));
  private readonly threads = new Set<vscode.CommentThread>();

  constructor(private readonly changes: Changes, private readonly snapshots: Snapshots, private readonly composer: Composer) {
    this.controller.options = { placeHolder: t('What should the agent know about these lines?'), prompt: t('Tell the agent...') };
    this.controller.commentingRangeProvider = {
      provideCommentingRanges: async (document) => ((await this.shownIn(document.uri)) ? [new vscode.Range(0, 0, Math.max(0, document.lineCount - 1), 0)] : []),
    };
  }

  /** Keeps a remark until all are sent. */
  add({ thread, text }: Reply): void {
    this.threads.add(thread);
    thread.label = t('Not sent yet');
    thread.contextValue = 'pending';
    thread.canReply = true;
    thread.comments = [...thread.comments, { body: text, mode: vscode.CommentMode.Preview, author: { name: t('You') } }];
    void this.count();
  }

  /** A remark on lines of a document, as a click on them makes it. */
  on(uri: vscode.Uri, range: vscode.Range, text: string): void {
    this.add({ thread: this.controller.createCommentThread(uri, range, []), text });
  }

  remove(thread: vscode.CommentThread): void {
    this.threads.delete(thread);
    thread.dispose();
    void this.count();
  }

  /** Sends all remarks, to each loop its own, and takes them away once they are there. */
  async send(): Promise<number> {
    const of = new Map<string, { loop: Shown['loop']; remarks: Remark[]; threads: vscode.CommentThread[] }>();
    for (const thread of this.threads) {
      const shown = await this.shownIn(thread.uri);
      if (!shown || !thread.range) continue;
      const all = of.get(shown.loop.loopId) ?? { loop: shown.loop, remarks: [], threads: [] };
      of.set(shown.loop.loopId, all);
      all.remarks.push(await remarkOf(thread, thread.range, shown));
      all.threads.push(thread);
    }
    let sent = 0;
    for (const { loop, remarks, threads } of of.values()) {
      const [talk] = this.composer.talksOf(loop);
      if (!talk || !(await this.composer.send(loop, talk.title, guidanceOf(remarks, t('Remarks on your changes:'))))) continue;
      threads.forEach((thread) => this.remove(thread));
      sent += remarks.length;
    }
    if (sent === 0) mention(this.threads.size > 0 ? t('no loop listens') : t('there is no remark to send'));
    return sent;
  }

  dispose(): void {
    for (const thread of this.threads) thread.dispose();
    this.controller.dispose();
  }

  private count(): Thenable<unknown> {
    return vscode.commands.executeCommand('setContext', 'ralph.hasRemarks', this.threads.size > 0);
  }

  /** What a document shows of a loop's changes; undefined: nothing. */
  private async shownIn(uri: vscode.Uri): Promise<Shown | undefined> {
    if (uri.scheme === scheme) {
      const { loopId, folder, iteration, before, path: name } = JSON.parse(uri.query) as Moment & { path: string };
      if (!loopId) return undefined;
      const when = before !== undefined ? t('before iteration {0}', before) : iteration ? t('after iteration {0}', iteration) : t('before the loop');
      return { loop: { loopId, folder }, path: name, when, ...(iteration && { before: this.snapshots.uri({ loopId, folder, before: iteration }, name) }) };
    }
    const folder = uri.scheme === 'file' ? vscode.workspace.getWorkspaceFolder(uri)?.uri : undefined;
    const result = folder && (await this.changes.of({ folder: folder.toString() }).catch(() => undefined)); // nothing has run there
    const file = result?.files.find((f) => vscode.Uri.parse(f.uri).fsPath === uri.fsPath);
    if (!result || !file) return undefined;
    return { loop: { loopId: result.loopId, folder: result.folder }, path: file.path, when: t('as it is now'), before: this.snapshots.uri({ loopId: result.loopId, folder: result.folder, iteration: 0 }, file.from ?? file.path) };
  }
}

async function remarkOf(thread: vscode.CommentThread, { start, end }: vscode.Range, { path: name, when, before }: Shown): Promise<Remark> {
  const text = async (uri: vscode.Uri): Promise<string> => (await vscode.workspace.openTextDocument(uri)).getText();
  const was = before && (await text(before).catch(() => undefined)); // one that is no text
  const words = thread.comments.map((c) => (typeof c.body === 'string' ? c.body : c.body.value)).join('\n');
  return { path: path.posix.normalize(name), from: start.line + 1, to: end.line + 1, when, text: words, after: await text(thread.uri), ...(was !== undefined && { before: was }) };
}
