// The view of loops.
import * as vscode from 'vscode';
import type { Changes } from './changes';
import type { Loops } from './loops';
import { throttled } from './throttle';
import type { Node } from './treeModel';
import { Rows } from './treeRows';

const refreshInterval = 300;

class Provider implements vscode.TreeDataProvider<Node> {
  private readonly emitter = new vscode.EventEmitter<Node[] | undefined>();
  readonly onDidChangeTreeData = this.emitter.event;
  private readonly rows: Rows;
  /** Draws the rows that differ. */
  readonly refresh = throttled(() => this.draw(this.rows.changed()), refreshInterval);
  /** Draws the open loops: what they changed is known anew. */
  readonly refreshLoops = throttled(() => this.draw(this.rows.loops()), refreshInterval);

  constructor(loops: Loops, changes: Changes) {
    const nothing = (): undefined => undefined;
    this.rows = new Rows(() => ({
      loops: loops.status, records: loops.records, past: loops.past,
      read: (...what) => loops.read(...what), changes: (target) => changes.of(target).catch(nothing),
    }));
  }

  getChildren(node?: Node): Promise<Node[]> {
    return this.rows.children(node);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(node.label, node.children ? (node.expanded ? Expanded : Collapsed) : None);
    item.id = node.id;
    item.description = node.description;
    item.iconPath = new vscode.ThemeIcon(node.icon, node.colour ? new vscode.ThemeColor(node.colour) : undefined);
    item.contextValue = node.context;
    item.accessibilityInformation = { label: [node.label, node.description].filter(Boolean).join(', ') };
    if (node.opens) item.command = { command: 'ralph.openChanges', title: '', arguments: [node.target] };
    if (node.answers) item.command = { command: 'ralph.answer', title: '', arguments: [node.answers] };
    if (node.reveals) item.command = { command: 'ralph.transcript.reveal', title: '', arguments: [node.place] };
    return item;
  }

  /** The hover, once it is wanted. */
  resolveTreeItem(item: vscode.TreeItem, node: Node): vscode.TreeItem {
    if (node.hover) item.tooltip = new vscode.MarkdownString(node.hover());
    return item;
  }

  private draw(nodes: Node[] | undefined): void {
    if (!nodes || nodes.length > 0) this.emitter.fire(nodes);
  }
}

export function createTree(loops: Loops, changes: Changes): vscode.Disposable {
  const provider = new Provider(loops, changes);
  const view = vscode.window.createTreeView('ralph.loops', { treeDataProvider: provider, showCollapseAll: true });
  const tell = () => view.message !== loops.text && (view.message = loops.text);
  return vscode.Disposable.from(view, loops.onChange(tell), loops.onChange(provider.refresh), changes.onChange(provider.refreshLoops));
}
