// The transcripts that are open: one in the panel, and each loop's own tab where its user wants one.
import * as vscode from 'vscode';
import type { Composer } from '../composer';
import * as config from '../config';
import { reached } from '../contextKeys';
import type { Loops } from '../loops';
import { facts, short } from '../show';
import type { Sidecar } from '../sidecar';
import type { LoopParams } from '../wire';
import { readState, type Place as InLoop } from './messages';
import { Panel, type Loop, type Parts } from './panel';
import { loopOf, PanelView } from './panelView';
import { remembered, tabSurface, type Left } from './surface';

export const viewType = 'ralph.transcript';
/** Milliseconds between two signs of life; a page waits for several. */
const heartbeat = 2000;

/** A place in a loop's transcript. */
export type Place = LoopParams & Partial<InLoop>;

interface Tab { view: vscode.WebviewPanel; panel: Panel }
const leftKey = 'ralph.transcript.tabs';
/** Milliseconds in which VS Code revives a tab of a window that was closed. */
const revivedWithin = 5000;

export class Panels implements vscode.Disposable, vscode.WebviewPanelSerializer {
  private readonly tabs = new Map<string, Tab>();
  private readonly extension: vscode.Uri;
  private readonly state: vscode.Memento;
  /** Those that an extension host which ended has left behind, and that nobody has opened anew. */
  private readonly left: Left[];
  private readonly parts: Parts;
  private readonly panel: PanelView;
  private readonly registration = vscode.window.registerWebviewPanelSerializer(viewType, this);
  private readonly heart: NodeJS.Timeout;
  private readonly naming: vscode.Disposable;
  private readonly reviving: vscode.Disposable;
  private reviver: NodeJS.Timeout | undefined;

  constructor({ extensionUri: extension, workspaceState }: vscode.ExtensionContext, sidecar: Sidecar, private readonly loops: Loops, composer: Composer) {
    this.extension = extension;
    this.state = workspaceState;
    this.parts = { extension, sidecar, loops, composer, drafts: new KeptDrafts(workspaceState), choose: (loopId) => void this.show({ loopId }), openTab: (loop) => void this.openTab(loop, vscode.ViewColumn.Active, false) };
    this.panel = new PanelView(this.parts, loops);
    this.heart = setInterval(() => {
      this.panel.beat();
      this.tabs.forEach(({ panel }) => panel.beat());
    }, heartbeat);
    this.naming = loops.onChange(() => this.tabs.forEach((tab) => this.name(tab)));
    this.left = [...workspaceState.get<Left[]>(leftKey, [])];
    const revive = () => {
      clearTimeout(this.reviver);
      this.reviver = setTimeout(() => void this.revive(), revivedWithin);
    };
    this.reviving = vscode.window.tabGroups.onDidChangeTabs(revive);
    revive();
  }

  /** Shows a loop's transcript; beside: next to what the user works on, who goes on there. */
  show({ loopId, folder }: LoopParams, beside = false, place?: InLoop): Panel | undefined {
    if (!loopId) return undefined;
    reached('hasWatched');
    const loop = loopOf(this.loops, { loopId, folder });
    if (!this.tabs.has(loopId) && config.opensInPanel()) return this.panel.show(loop, beside, place);
    const panel = this.openTab(loop, beside ? this.columnBeside() : vscode.ViewColumn.Active, beside);
    if (place) panel.reveal(place);
    return panel;
  }

  /** Shows where an iteration begins, or a tool call. */
  reveal({ iteration, toolCallId, ...loop }: Place): void {
    this.show(loop, false, iteration === undefined ? undefined : { iteration, toolCallId });
  }

  /** The loop whose transcript the user looks at. */
  get active(): Panel | undefined {
    return [...this.tabs.values()].find(({ view }) => view.active)?.panel ?? this.panel.shown;
  }

  async deserializeWebviewPanel(view: vscode.WebviewPanel, state: unknown): Promise<void> {
    const left = readState(state);
    if (!left || this.tabs.has(left.loopId)) return view.dispose();
    const { place, ...loop } = left;
    const panel = this.add(view, loop);
    if (place) panel.reveal(place);
  }

  dispose(): void {
    clearInterval(this.heart);
    this.naming.dispose();
    this.reviving.dispose();
    clearTimeout(this.reviver);
    this.registration.dispose();
    this.panel.dispose();
    for (const { panel } of this.tabs.values()) panel.dispose();
  }

  /** Where a loop that starts is shown: with the transcripts that are there, else next to what the user works on. */
  private columnBeside(): vscode.ViewColumn {
    const other = [...this.tabs.values()].find(({ view }) => view.viewColumn !== undefined);
    if (other?.view.viewColumn) return other.view.viewColumn;
    const isFree = !vscode.window.tabGroups.activeTabGroup.activeTab; // beside nothing would be a gap
    return isFree ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside;
  }

  /** Opens anew each tab that can be seen and that was left behind: nobody serves it. */
  private async revive(): Promise<void> {
    for (const { activeTab, viewColumn } of vscode.window.tabGroups.all) {
      if (!activeTab || !isTranscript(activeTab)) continue;
      const at = this.left.findIndex(({ label }) => label === activeTab.label);
      if (at < 0 || [...this.tabs.values()].some(({ view }) => view.title === activeTab.label)) continue;
      const [{ label: _, ...loop }] = this.left.splice(at, 1) as [Left];
      await vscode.window.tabGroups.close(activeTab, true);
      this.openTab(loop, viewColumn, true);
    }
  }

  private remember(): void {
    const tabs = [...this.tabs.values()].map(({ view, panel }) => ({ ...panel.loop, label: view.title }));
    const labels = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(isTranscript).map(({ label }) => label);
    void this.state.update(leftKey, remembered(tabs, this.left, labels));
  }

  /** Shows a loop's own tab. */
  private openTab(loop: Loop, viewColumn: vscode.ViewColumn, preserveFocus: boolean): Panel {
    const open = this.tabs.get(loop.loopId);
    if (open) {
      open.view.reveal(undefined, preserveFocus);
      return open.panel;
    }
    return this.add(vscode.window.createWebviewPanel(viewType, tabTitle(loop.title), { viewColumn, preserveFocus }, { enableScripts: true }), loop);
  }

  /** Gives a tab its loop's title; of several with the same one, the later also say when theirs began. */
  private name({ view, panel: { loop } }: Tab): void {
    const { loopId } = loop;
    const named = this.loops.named(loopId);
    loop.title = named?.title ?? loop.title;
    const all = [...this.tabs.values()].map((tab) => tab.panel.loop);
    const isTaken = all.slice(0, all.indexOf(loop)).some((other) => other.title === loop.title);
    const title = facts(tabTitle(loop.title), isTaken && (named?.startedAt ? new Date(named.startedAt).toLocaleString() : loopId));
    if (view.title === title) return;
    view.title = title;
    this.remember();
  }

  private add(view: vscode.WebviewPanel, loop: Loop): Panel {
    const icon = (name: string) => vscode.Uri.joinPath(this.extension, 'images', name);
    view.iconPath = { light: icon('ralph.svg'), dark: icon('ralph-dark.svg') };
    const tab = { view, panel: new Panel(tabSurface(view), loop, this.parts) };
    this.tabs.set(loop.loopId, tab);
    this.name(tab);
    this.remember();
    view.onDidDispose(() => {
      tab.panel.dispose();
      this.tabs.delete(loop.loopId);
      this.remember();
    });
    return tab.panel;
  }
}

/** What is being written for each loop, over a restart of the extension host. */
class KeptDrafts extends Map<string, string> {
  private static readonly key = 'ralph.transcript.drafts';

  constructor(private readonly state: vscode.Memento) {
    super();
    for (const [loopId, text] of Object.entries(state.get<Record<string, string>>(KeptDrafts.key, {}))) super.set(loopId, text);
  }

  override set(loopId: string, text: string): this {
    if (text) super.set(loopId, text);
    else super.delete(loopId);
    void this.state.update(KeptDrafts.key, Object.fromEntries(this));
    return this;
  }
}

const isTranscript = ({ input }: vscode.Tab): boolean => input instanceof vscode.TabInputWebview && input.viewType.endsWith(viewType);

/** The text as a tab can show it. */
const tabTitle = (text: string): string => short(text.replace(/\s+/g, ' ').trim());
