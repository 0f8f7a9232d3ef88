// Which rows of a long list are in view, while most have never been measured.

export interface Item {
  key: string;
  /** Pixels, as long as it isn't measured. */
  guess: number;
}

/** Where the view stands: so many pixels of an item are above its top. */
export interface Anchor { key: string; offset: number }

export class Heights {
  private readonly measured = new Map<string, number>();
  private items: readonly Item[] = [];
  /** Of each item's top; one more for the end. */
  private tops = new Float64Array(1);
  private indexes = new Map<string, number>();

  /** Takes the list as it is now. */
  set(items: readonly Item[]): void {
    this.items = items;
    this.indexes = new Map(items.map((item, i) => [item.key, i]));
    this.sum(0);
  }

  /** Takes the heights of items that are shown; false: nothing is new. */
  measure(heights: Iterable<[string, number]>): boolean {
    let from = Infinity;
    for (const [key, height] of heights) {
      const at = this.indexes.get(key);
      if (at === undefined || this.measured.get(key) === height) continue;
      this.measured.set(key, height);
      from = Math.min(from, at);
    }
    if (from === Infinity) return false;
    this.sum(from);
    return true;
  }

  /** Nothing of before is true: the width is another. */
  forgetAll(): void {
    this.measured.clear();
    this.sum(0);
  }

  /** What is gone for good needs no memory. */
  forget(key: string): void {
    this.measured.delete(key);
  }

  get total(): number {
    return this.tops[this.items.length] ?? 0;
  }

  top(index: number): number {
    return this.tops[index] ?? this.total;
  }

  indexOf(key: string): number {
    return this.indexes.get(key) ?? -1;
  }

  /** The item at a height. */
  at(y: number): number {
    let [low, high] = [0, this.items.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.top(middle) <= y) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  /** The items between two heights: from the first to before the last. */
  range(from: number, to: number): [number, number] {
    return this.items.length === 0 ? [0, 0] : [this.at(from), this.at(to) + 1];
  }

  anchor(scrollTop: number): Anchor | undefined {
    const index = this.at(scrollTop);
    const item = this.items[index];
    return item && { key: item.key, offset: scrollTop - this.top(index) };
  }

  /** Where an anchor is now; undefined: its item is gone. */
  find({ key, offset }: Anchor): number | undefined {
    const index = this.indexOf(key);
    return index < 0 ? undefined : this.top(index) + Math.min(offset, this.top(index + 1) - this.top(index));
  }

  private sum(from: number): void {
    if (this.tops.length < this.items.length + 1) {
      const wider = new Float64Array(2 * this.items.length + 1);
      wider.set(this.tops.subarray(0, from + 1));
      this.tops = wider;
    }
    for (let i = from; i < this.items.length; i++) {
      const item = this.items[i]!;
      this.tops[i + 1] = this.tops[i]! + (this.measured.get(item.key) ?? item.guess);
    }
  }
}
