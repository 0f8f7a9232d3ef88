// Where a long message may be cut.

/** Characters from which on a text is cut between paragraphs, and wherever a line ends. */
const soft = 4000;
const hard = 16_000;

/** Where the first piece of a text ends; 0: it is short enough. A block of code is cut only when it is very long. */
export function splitAt(text: string): number {
  if (text.length <= soft) return 0;
  const isFence = /^ {0,3}(?:`{3,}|~{3,})/;
  let open = false;
  let cut = 0; // the last paragraph's end outside of blocks
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at);
    if (end < 0) break;
    const line = text.slice(at, end);
    if (isFence.test(line)) open = !open;
    if (!open && line.trim() === '' && end + 1 < text.length) {
      cut = end + 1;
      if (cut > soft) return cut;
    }
    at = end + 1;
  }
  if (text.length <= hard) return 0;
  return cut || text.lastIndexOf('\n', hard) + 1 || hard;
}
