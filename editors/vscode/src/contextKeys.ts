// The context keys that menus and keybindings use: ralph.available, ralph.running, ...
import * as vscode from 'vscode';
import { isLive, isResumable } from './loopText';
import type { Loops } from './loops';

export function keepContextKeys(loops: Loops): vscode.Disposable {
  const last = new Map<string, boolean>();
  const set = (key: string, value: boolean) => {
    if (last.get(key) === value) return;
    last.set(key, value);
    void vscode.commands.executeCommand('setContext', key, value);
  };
  const update = () => {
    const { server, loops: all, pausing } = loops.model(Date.now());
    set('ralph.available', server.state === 'running');
    set('ralph.running', all.some((l) => isLive(l) && l.state !== 'paused'));
    set('ralph.paused', all.some((l) => l.state === 'paused'));
    set('ralph.interrupted', all.some((l) => l.state === 'interrupted'));
    set('ralph.failed', all.some((l) => l.state === 'failed'));
    set('ralph.resumable', pausing.size > 0 || all.some(isResumable));
  };
  update();
  return loops.onChange(update);
}
