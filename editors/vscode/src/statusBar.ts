// The item in the status bar.
import * as vscode from 'vscode';
import * as config from './config';
import type { Loops } from './loops';
import { bar, tooltip, tooltipCommands } from './statusText';
import { throttled } from './throttle';

/** Shows the loops; a click answers what one asks, or opens the list of actions. */
export function createStatusBar(loops: Loops): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('ralph.status', vscode.StatusBarAlignment.Left, 100);
  item.name = 'Ralph';
  const show = () => {
    const now = Date.now();
    const model = loops.model;
    const b = bar(model);
    item.text = b.text;
    item.command = model.loops.some((l) => l.questions) ? 'ralph.answer' : 'ralph.showStatus';
    item.backgroundColor = b.class === 'warning' || b.class === 'error' ? new vscode.ThemeColor(`statusBarItem.${b.class}Background`) : undefined;
    item.accessibilityInformation = { label: b.label, role: 'button' };
    const md = new vscode.MarkdownString(tooltip(model, now));
    md.isTrusted = { enabledCommands: tooltipCommands };
    item.tooltip = md;
    if (b.idle && config.hideWhenIdle()) item.hide();
    else item.show();
  };
  show();
  return vscode.Disposable.from(item, loops.onTick(show), loops.onChange(throttled(show, 100)), vscode.workspace.onDidChangeConfiguration(show));
}
