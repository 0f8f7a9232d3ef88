// Marks where a text stands in elements, without a change to them.

const name = 'ralph-found';

/** Marks a text wherever it is in the elements; '' takes the marks away. */
export function mark(elements: Iterable<HTMLElement>, text: string): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.delete(name);
  if (text === '') return;
  const ranges: Range[] = [];
  for (const element of elements) ranges.push(...rangesIn(element, text.toLowerCase()));
  CSS.highlights.set(name, new Highlight(...ranges));
}

function* rangesIn(element: HTMLElement, wanted: string): Iterable<Range> {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + wanted.length, node.nodeValue?.length ?? 0));
      yield range;
    }
  }
}
