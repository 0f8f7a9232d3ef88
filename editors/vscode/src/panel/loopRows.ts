// The panel's list of loops, in the server's order: what needs its user most is first.
import type { LoopStatus } from '../wire';
import type { LoopRow } from './messages';

/** The loops that can be chosen; shown is the one whose transcript is there. */
export function rowsOf(loops: readonly LoopStatus[], shown: string): LoopRow[] {
  return loops.flatMap((l) => (l.loopId ? [rowOf(l, l.loopId, l.loopId === shown)] : []));
}

function rowOf(l: LoopStatus, loopId: string, isShown: boolean): LoopRow {
  const state = l.live ? l.state : ''; // how one ended, its line says
  const line = l.line ?? l.text ?? '';
  const mark = l.questions ? 'asks' : l.busy ? 'busy' : l.live ? 'waits' : l.class;
  return { loopId, title: l.title, state, line, mark, isShown, label: [l.title, state, line].filter(Boolean).join(', ') };
}
