// A loop's runs: one that is continued numbers its updates from 1 again.
import type { Iteration, Update, UpdateParams } from './wire';

/** Tells where a run begins; notifications come in their order. */
export class Runs {
  private readonly last = new Map<string, { seq: number; over: boolean }>();

  /** Whether a notification is the first of a run, as far as this editor has heard. */
  begins(p: Pick<UpdateParams, 'loopId' | 'seq' | 'updates'>): boolean {
    const last = this.last.get(p.loopId);
    this.last.set(p.loopId, { seq: p.seq, over: p.updates.some((u) => u.sessionUpdate === '_ralph/end') });
    return !last || last.over || p.seq <= last.seq;
  }

  /** What comes from here on is another server's. */
  forget(): void {
    this.last.clear();
  }
}

export function isBegin(u: Update | undefined): u is Iteration {
  return u?.sessionUpdate === '_ralph/iteration' && u.phase === 'begin';
}

/**
 * Where a run begins in a session that has it, too; its first iteration may have
 * been tried more than once in both. The session may lack the first begin: the
 * run is ahead of it, or it couldn't be written, in which case a later one may
 * be there. Where it has none, all of it is earlier: better something twice than
 * the earlier runs not at all.
 */
export function firstOwn(session: Update[], run: Update[]): number {
  const [inSession, inRun] = [begins(session), begins(run)];
  for (const [iteration, own] of inRun) {
    const at = inSession.get(iteration)?.at(-own.length);
    if (at !== undefined) return at;
  }
  return session.length;
}

/** Where the iterations begin, by number. */
function begins(updates: Update[]): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const [at, u] of updates.entries()) {
    if (isBegin(u)) found.set(u.iteration, [...found.get(u.iteration) ?? [], at]);
  }
  return found;
}
