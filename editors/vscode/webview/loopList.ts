// The panel's list of loops: two lines each, what needs its user first, as the server has them.
import type { LoopRow } from '../src/panel/messages';
import { h } from './render';

const marks: Record<LoopRow['mark'], string> = { asks: '?', busy: '', waits: '∥', info: '·', ok: '✓', warning: '⚠', error: '✗' };

export class LoopList {
  private loops: LoopRow[] = [];

  constructor(private readonly list: HTMLElement, private readonly choose: (loopId: string) => void) {
    list.addEventListener('click', (e) => this.clicked(e.target as HTMLElement));
    list.addEventListener('keydown', (e) => this.key(e));
  }

  /** Shows the loops; a list of the one that is shown anyway would say nothing. A row that stays keeps the focus. */
  show(loops: LoopRow[]): void {
    this.loops = loops;
    this.list.hidden = loops.every((l) => l.isShown);
    const focused = (document.activeElement as HTMLElement | null)?.dataset.loop;
    this.list.replaceChildren(...loops.map((l) => this.row(l)));
    if (focused) this.element(focused)?.focus();
  }

  private row(l: LoopRow): HTMLElement {
    const words = [['mark', marks[l.mark]], ['title', l.title], ['state', l.state], ['line', l.line]] as const;
    const button = h('button', {
      type: 'button', class: `loop ${l.mark}`, 'data-loop': l.loopId, title: l.title, 'aria-label': l.label, 'aria-current': l.isShown ? 'true' : undefined,
    }, ...words.map(([name, text]) => h('span', { class: name, 'aria-hidden': 'true' }, text)));
    return h('div', { role: 'listitem' }, button);
  }

  private element(loopId: string): HTMLElement | null {
    return this.list.querySelector(`[data-loop="${CSS.escape(loopId)}"]`);
  }

  private clicked(target: HTMLElement): void {
    const loopId = target.closest<HTMLElement>('[data-loop]')?.dataset.loop;
    if (loopId) this.choose(loopId);
  }

  private key(e: KeyboardEvent): void {
    const by = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0;
    if (by === 0) return;
    const at = this.loops.findIndex((l) => l.loopId === (e.target as HTMLElement).dataset.loop);
    const next = this.loops[at + by];
    if (next) this.element(next.loopId)?.focus();
    e.preventDefault();
    e.stopPropagation(); // the arrows of the page are the transcript's
  }
}
