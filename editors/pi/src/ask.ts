// Questions to the user, one after another: pi shows one dialog at a time.
import type { ExtensionUIContext } from '@earendil-works/pi-coding-agent';

/** What the answer is called that changes nothing. It stands first: a Return chooses it. */
export const leaveIt = 'Leave it';

export class Questions {
  private last: Promise<unknown> = Promise.resolve();
  private readonly ended = new AbortController();
  private readonly ui: ExtensionUIContext;

  constructor(ui: ExtensionUIContext) {
    this.ui = ui;
  }

  /** Lets the user choose; undefined: nothing, or the question was moot. */
  choose(title: string, options: string[], moot?: AbortSignal): Promise<string | undefined> {
    return this.turn((signal) => this.ui.select(title, options, { signal }), moot);
  }

  /** Asks when nobody else does; undefined where it was moot by then. */
  turn<T>(ask: (moot: AbortSignal) => Promise<T>, moot?: AbortSignal): Promise<T | undefined> {
    const signal = moot ? AbortSignal.any([moot, this.ended.signal]) : this.ended.signal;
    const turn = this.last.then(() => signal.aborted ? undefined : ask(signal));
    this.last = turn.catch(() => {});
    return turn;
  }

  /** Takes back what is asked. */
  end(): void {
    this.ended.abort();
  }
}
