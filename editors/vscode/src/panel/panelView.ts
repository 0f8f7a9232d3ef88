// The panel: the view in a side bar that lists the loops and shows the transcript of one.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import * as config from '../config';
import { t } from '../l10n';
import type { Loops } from '../loops';
import { short } from '../show';
import type { LoopParams } from '../wire';
import { readState, type Place } from './messages';
import { Panel, type Loop, type Parts } from './panel';
import { viewSurface } from './surface';

export const viewId = 'ralph.panel';

export class PanelView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private panel: Panel | undefined;
  /** What is shown once the view is there. */
  private next: { loop: Loop; place?: Place } | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly parts: Parts, private readonly loops: Loops) {
    const tell = () => void vscode.commands.executeCommand('setContext', 'ralph.hasPanel', config.opensInPanel());
    tell();
    this.subscriptions = [
      vscode.window.registerWebviewViewProvider(viewId, this),
      loops.onChange(() => this.changed()),
      vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration('ralph.transcript.openIn') && tell()),
    ];
  }

  /** The loop whose transcript can be seen. */
  get shown(): Panel | undefined {
    return this.view?.visible ? this.panel : undefined;
  }

  /** Shows a loop's transcript, at a place of it; keepsFocus: the user goes on elsewhere. */
  show(loop: Loop, keepsFocus: boolean, place?: Place): Panel | undefined {
    const { view } = this;
    if (!view) {
      this.next = { loop, place };
      void vscode.commands.executeCommand(`${viewId}.focus`, { preserveFocus: keepsFocus });
      return undefined;
    }
    const panel = this.panel?.loop.loopId === loop.loopId ? this.panel : this.open(view, loop);
    if (place) panel.reveal(place);
    view.show(keepsFocus);
    return panel;
  }

  resolveWebviewView(view: vscode.WebviewView, { state }: vscode.WebviewViewResolveContext): void {
    this.view = view;
    view.onDidDispose(() => {
      this.panel?.dispose();
      this.panel = this.view = undefined;
    });
    const { next } = this;
    this.next = undefined;
    if (!next) return this.restore(view, state);
    const panel = this.open(view, next.loop);
    if (next.place) panel.reveal(next.place);
  }

  beat(): void {
    this.panel?.beat();
  }

  dispose(): void {
    this.panel?.dispose();
    for (const d of this.subscriptions) d.dispose();
  }

  /** Shows what the view showed before its window was closed, else the loop that needs its user most. */
  private restore(view: vscode.WebviewView, state: unknown): void {
    const left = readState(state);
    if (!left) {
      view.webview.html = emptyPage(view.webview);
      return this.changed();
    }
    const { place, ...loop } = left;
    const panel = this.open(view, loop);
    if (place) panel.reveal(place);
  }

  private changed(): void {
    const { view } = this;
    if (!view) return;
    const first = this.loops.status.find((l) => l.loopId) ?? this.loops.past[0];
    if (!this.panel && first?.loopId) this.open(view, { loopId: first.loopId, folder: first.folder, title: first.title });
    const asking = this.loops.status.filter((l) => l.questions).length;
    const tooltip = asking === 1 ? t('A loop waits for an answer') : t('{0} loops wait for an answer', asking);
    view.badge = asking > 0 ? { value: asking, tooltip } : undefined;
    if (this.panel) this.name(view, this.panel);
  }

  private name(view: vscode.WebviewView, { loop }: Panel): void {
    loop.title = this.loops.named(loop.loopId)?.title ?? loop.title;
    view.title = short(loop.title, 40);
  }

  private open(view: vscode.WebviewView, loop: Loop): Panel {
    this.panel?.dispose();
    const panel = new Panel(viewSurface(view), loop, this.parts);
    this.panel = panel;
    this.name(view, panel);
    return panel;
  }
}

/** What the panel shows where no loop has run. */
function emptyPage(webview: vscode.Webview): string {
  const nonce = randomBytes(16).toString('base64');
  webview.options = { enableCommandUris: ['ralph.start'] };
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'">
<style nonce="${nonce}">body { color: var(--vscode-descriptionForeground); padding: 8px 16px; }</style>
</head>
<body>
<p>${t('No loop has run here yet.')}</p>
<p><a href="command:ralph.start">${t('Start a loop...')}</a></p>
</body>
</html>`;
}

/** The loop that a command names, as a transcript needs it. */
export const loopOf = (loops: Loops, { loopId, folder }: LoopParams & { loopId: string }): Loop => {
  const named = loops.named(loopId);
  return { loopId, folder: folder ?? named?.folder, title: named?.title ?? loopId };
};
