// The transcripts that are open, one tab for each loop.
import * as vscode from 'vscode';
import type { Composer } from '../composer';
import { reached } from '../contextKeys';
import type { Loops } from '../loops';
import { facts, short } from '../show';
import type { Sidecar } from '../sidecar';
import type { LoopParams } from '../wire';
import { readState, type Place as InLoop } from './messages';
import { Panel } from './panel';

export const viewType = 'ralph.transcript';
/** Milliseconds between two signs of life; a page waits for several. */
const heartbeat = 2000;

/** A place in a loop's transcript. */
export type Place = LoopParams & Partial<InLoop>;

export class Panels implements vscode.Disposable, vscode.WebviewPanelSerializer {
  private readonly panels = new Map<string, Panel>();
  private readonly registration = vscode.window.registerWebviewPanelSerializer(viewType, this);
  private readonly heart = setInterval(() => this.panels.forEach((panel) => panel.beat()), heartbeat);
  private readonly naming: vscode.Disposable;

  constructor(private readonly extension: vscode.Uri, private readonly sidecar: Sidecar, private readonly loops: Loops, private readonly composer: () => Composer) {
    this.naming = loops.onChange(() => this.panels.forEach((panel) => this.name(panel)));
  }

  /** Shows a loop's transcript; beside: next to what the user works on, who goes on there. */
  show({ loopId, folder }: LoopParams, beside = false): Panel | undefined {
    if (!loopId) return undefined;
    reached('hasWatched');
    const open = this.panels.get(loopId);
    if (open) {
      open.view.reveal(undefined, beside);
      return open;
    }
    const isFree = !vscode.window.tabGroups.activeTabGroup.activeTab; // beside nothing would be a gap
    const viewColumn = beside && !isFree ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active;
    const named = this.loops.named(loopId);
    const title = named?.title ?? loopId;
    const view = vscode.window.createWebviewPanel(viewType, tabTitle(title), { viewColumn, preserveFocus: beside }, { enableScripts: true });
    return this.add(view, { loopId, folder: folder ?? named?.folder, title });
  }

  /** Shows where an iteration begins, or a tool call. */
  reveal({ iteration, toolCallId, ...loop }: Place): void {
    const panel = this.show(loop);
    if (panel && iteration !== undefined) panel.reveal({ iteration, toolCallId });
  }

  /** The loop whose transcript the user looks at. */
  get active(): Panel | undefined {
    return [...this.panels.values()].find((p) => p.view.active);
  }

  async deserializeWebviewPanel(view: vscode.WebviewPanel, state: unknown): Promise<void> {
    const left = readState(state);
    if (!left || this.panels.has(left.loopId)) return view.dispose();
    const { place, ...loop } = left;
    const panel = this.add(view, loop);
    if (place) panel.reveal(place);
  }

  dispose(): void {
    clearInterval(this.heart);
    this.naming.dispose();
    this.registration.dispose();
    for (const panel of this.panels.values()) panel.dispose();
  }

  /** Gives a tab its loop's title; of several with the same one, the later also say when theirs began. */
  private name(panel: Panel): void {
    const { loopId } = panel.loop;
    const named = this.loops.named(loopId);
    panel.loop.title = named?.title ?? panel.loop.title;
    const before = [...this.panels.values()];
    const isTaken = before.slice(0, before.indexOf(panel)).some((p) => p.loop.title === panel.loop.title);
    const title = facts(tabTitle(panel.loop.title), isTaken && (named?.startedAt ? new Date(named.startedAt).toLocaleString() : loopId));
    if (panel.view.title !== title) panel.view.title = title;
  }

  private add(view: vscode.WebviewPanel, loop: LoopParams & { loopId: string; title: string }): Panel {
    const panel = new Panel(view, loop, this.extension, this.sidecar, this.loops, this.composer());
    this.panels.set(loop.loopId, panel);
    this.name(panel);
    view.onDidDispose(() => {
      panel.dispose();
      this.panels.delete(loop.loopId);
    });
    return panel;
  }
}

/** The text as a tab can show it. */
const tabTitle = (text: string): string => short(text.replace(/\s+/g, ' ').trim());
