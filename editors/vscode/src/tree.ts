// The view of loops.
import * as vscode from 'vscode';
import type { Changes } from './changes';
import type { Loops } from './loops';
import { throttled } from './throttle';
import { roots, type Node } from './treeModel';

const refreshInterval = 300;

class Provider implements vscode.TreeDataProvider<Node> {
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.emitter.event;
  readonly refresh = throttled(() => this.emitter.fire(), refreshInterval);

  constructor(private readonly loops: Loops, private readonly changes: Changes) {}

  getChildren(node?: Node): Node[] | Promise<Node[]> {
    if (node) return node.children?.() ?? [];
    const { status: loops, records, past } = this.loops;
    const nothing = (): undefined => undefined;
    return roots({ loops, records, past, read: (id) => this.loops.read(id), changes: (target) => this.changes.of(target).catch(nothing) });
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(node.label, node.children ? (node.expanded ? Expanded : Collapsed) : None);
    item.id = node.id;
    item.description = node.description;
    item.iconPath = new vscode.ThemeIcon(node.icon, node.colour ? new vscode.ThemeColor(node.colour) : undefined);
    item.contextValue = node.context;
    item.tooltip = node.tooltip;
    item.accessibilityInformation = { label: [node.label, node.description].filter(Boolean).join(', ') };
    if (node.opens) item.command = { command: 'ralph.openChanges', title: '', arguments: [node.target] };
    if (node.transcript) item.command = { command: 'ralph.showOutput', title: '', arguments: [{ loopId: node.transcript }] };
    return item;
  }
}

export function createTree(loops: Loops, changes: Changes): vscode.Disposable {
  const provider = new Provider(loops, changes);
  const view = vscode.window.createTreeView('ralph.loops', { treeDataProvider: provider, showCollapseAll: true });
  return vscode.Disposable.from(view, loops.onChange(provider.refresh), changes.onChange(provider.refresh));
}
