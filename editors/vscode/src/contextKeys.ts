// The context keys that menus and keybindings use: ralph.available, ralph.failed (the
// server can't run), ralph.running, and ralph.can.pause and its like for what can be done
// with some loop. The walkthrough has keys for what the user has come to, once:
// ralph.hasAgent, ralph.hasStarted (there is a loop, or was one) and ralph.hasWatched.
import * as vscode from 'vscode';
import { canOf } from './can';
import type { Loops } from './loops';

export const reached = (key: 'hasAgent' | 'hasStarted' | 'hasWatched'): void => void vscode.commands.executeCommand('setContext', `ralph.${key}`, true);

export function keepContextKeys(loops: Loops): vscode.Disposable {
  let last = new Set<string>();
  let hasStarted = false;
  const update = () => {
    const now = new Set(loops.status.flatMap(canOf).map((can) => `ralph.can.${can}`));
    if (loops.server.state === 'running') now.add('ralph.available');
    if (loops.server.state === 'failed') now.add('ralph.failed');
    if (loops.status.some((l) => l.live)) now.add('ralph.running');
    if (!hasStarted && loops.status.length + loops.past.length > 0) { // a server that starts again knows of no loop for a moment
      hasStarted = true;
      reached('hasStarted');
      reached('hasAgent');
    }
    if (loops.status.some((l) => l.worktree)) now.add('ralph.hasWorktree');
    for (const key of new Set([...last, ...now])) {
      if (last.has(key) !== now.has(key)) void vscode.commands.executeCommand('setContext', key, now.has(key));
    }
    last = now;
  };
  update();
  return loops.onChange(update);
}
