// When a sidecar that ended by itself is started again.

const window = 3 * 60_000;
const limit = 5;

/** Counts crashes; times are in milliseconds. */
export class Restarts {
  private crashes: number[] = [];

  /** How long to wait before the next start, undefined: don't, it crashed too often. */
  crashed(now: number): number | undefined {
    this.crashes = [...this.crashes.filter((at) => now - at < window), now];
    return this.crashes.length < limit ? 100 * 2 ** this.crashes.length : undefined;
  }

  reset(): void {
    this.crashes = [];
  }

  get count(): number {
    return this.crashes.length;
  }
}
