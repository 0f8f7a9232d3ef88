// Where a transcript is shown: a tab of an editor, or the view that is in a side bar.
import type * as vscode from 'vscode';

export interface Surface {
  readonly webview: vscode.Webview;
  /** The user can see it. */
  readonly visible: boolean;
  readonly isPanel: boolean;
  /** Brings it to the front. */
  show(keepsFocus: boolean): void;
  /** Tells when it came into view, or went out of it. */
  onSeen(listener: () => void): vscode.Disposable;
}

export const tabSurface = (view: vscode.WebviewPanel): Surface => ({
  webview: view.webview,
  get visible() { return view.visible; },
  isPanel: false,
  show: (keepsFocus) => view.reveal(undefined, keepsFocus),
  onSeen: (listener) => view.onDidChangeViewState(listener),
});

export const viewSurface = (view: vscode.WebviewView): Surface => ({
  webview: view.webview,
  get visible() { return view.visible; },
  isPanel: true,
  show: (keepsFocus) => view.show(keepsFocus),
  onSeen: (listener) => view.onDidChangeVisibility(listener),
});

/** A tab of a window, in case its extension host ends and another one begins: VS Code revives tabs for a new window alone. */
export interface Left { loopId: string; folder?: string; title: string; label: string }

/** The tabs to remember: those that are served, and of those that were left behind each that is still there. */
export function remembered(served: Left[], left: Left[], labels: string[]): Left[] {
  return [...served, ...left.filter(({ loopId, label }) => labels.includes(label) && !served.some((tab) => tab.loopId === loopId))];
}

/** Whether an extension's view can be in the secondary side bar, by the version of VS Code: since 1.106. */
export function hasSecondarySideBar(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return major > 1 || (major === 1 && minor >= 106);
}
