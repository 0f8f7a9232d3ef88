// Which rows of the tree the editor has, and which of them are to be drawn again.
import { roots, type Node, type TreeInput } from './treeModel';

export class Rows {
  /** The rows that the editor was given, by id: it knows a row by its object. */
  private readonly given = new Map<string, Node>();
  private readonly opened = new Set<Node>();
  private top: string | undefined;

  constructor(private readonly input: () => TreeInput) {}

  /** The rows below one, or the first ones. */
  async children(node?: Node): Promise<Node[]> {
    if (node) this.opened.add(node);
    const fresh = node ? (await node.children?.()) ?? [] : roots(this.input());
    if (!node) this.top = ids(fresh);
    return fresh.map((f) => this.keep(f));
  }

  /** The rows that differ from what the editor has; undefined: all may. */
  changed(): Node[] | undefined {
    const fresh = roots(this.input());
    if (ids(fresh) !== this.top) {
      this.top = ids(fresh);
      this.given.clear();
      this.opened.clear();
      return undefined;
    }
    const found: Node[] = [];
    for (const f of fresh) this.compare(f, found);
    return found;
  }

  /** The loops whose rows are open: what is below may differ, for all that is known here. */
  loops(): Node[] {
    return [...this.opened].filter((n) => n.loop && this.given.get(n.id) === n);
  }

  private compare(fresh: Node, found: Node[]): void {
    const before = this.given.get(fresh.id);
    if (!before) return;
    const differs = shown(before) !== shown(fresh);
    this.keep(fresh);
    if (differs) found.push(before); // with all that is below
    else for (const part of fresh.parts?.() ?? []) this.compare(part, found);
  }

  private keep(fresh: Node): Node {
    const node = this.given.get(fresh.id);
    if (!node) {
      this.given.set(fresh.id, fresh);
      return fresh;
    }
    for (const key of Object.keys(node)) if (!(key in fresh)) delete (node as unknown as Record<string, unknown>)[key];
    return Object.assign(node, fresh);
  }
}

const ids = (nodes: Node[]): string => nodes.map((n) => n.id).join('\n');

/** All by which a row can be told from what it was, and those below it. */
const shown = ({ label, description, icon, colour, context, below }: Node): string => JSON.stringify([label, description, icon, colour, context, below]);
