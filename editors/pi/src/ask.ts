// Questions to the user, one after another: pi shows one dialog at a time.
import type { ExtensionUIContext } from '@earendil-works/pi-coding-agent';

/** What the answer is called that changes nothing. It stands first: a Return chooses it. */
export const leaveIt = 'Leave it';

export class Questions {
  private last: Promise<unknown> = Promise.resolve();
  private readonly ended = new AbortController();
  private readonly ui: ExtensionUIContext;
  private readonly waiting = new Set<() => void>(); // what asks by itself, the oldest first
  isExpected = false; // the user has come for what is asked next

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

  /** Waits until the user comes, or what waits is moot: what asks by itself takes no key. */
  async wait(moot: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([moot, this.ended.signal]);
    if (this.isExpected || signal.aborted) {
      this.isExpected = false;
      return;
    }
    await new Promise<void>((resolve) => {
      const go = () => {
        this.waiting.delete(go);
        resolve();
      };
      this.waiting.add(go);
      signal.addEventListener('abort', go, { once: true });
    });
  }

  /** The user comes for what waits longest; false: nothing does. */
  come(): boolean {
    const [first] = this.waiting;
    first?.();
    return first !== undefined;
  }

  /** Takes back what is asked. */
  end(): void {
    this.ended.abort();
  }
}
