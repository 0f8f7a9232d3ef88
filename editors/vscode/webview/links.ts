// Places in files that a text names.

export interface Place { path: string; line?: number; column?: number }
export interface Piece { text: string; place?: Place }

/** path:line, path:line:column; the look at what is before it keeps addresses out. */
const places = /(?<![\w@.+~\-/\\:])((?:[A-Za-z]:[\\/])?[\w@.+~\-/\\]{1,300}):(\d{1,7})(?::(\d{1,5}))?(?![\w/])/g;

/** Cuts a text into pieces, with those that name a place. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const m of text.matchAll(places)) {
    const path = m[1]!;
    if (!/[./\\]/.test(path) || !/[A-Za-z]/.test(path) || path.includes('//')) continue; // a time, a port
    if (m.index > end) pieces.push({ text: text.slice(end, m.index) });
    pieces.push({ text: m[0], place: { path, line: Number(m[2]), ...(m[3] ? { column: Number(m[3]) } : {}) } });
    end = m.index + m[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}

/** The place that a link of markdown leads to; undefined: it isn't a file of the folder. */
export function placeOf(href: string): Place | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href) && !/^[\w.-]+\.[a-z0-9]{1,8}:\d/i.test(href)) return undefined;
  if (href.startsWith('//') || href.startsWith('#') || href.startsWith('?')) return undefined;
  let path = href;
  try {
    path = decodeURIComponent(href);
  } catch {
    // it is as it is
  }
  const [, name = '', line, column] = /^(.*?)(?:(?::|#L)(\d{1,7})(?::(\d{1,5}))?)?$/s.exec(path) ?? [];
  return name ? { path: name, ...(line ? { line: Number(line) } : {}), ...(column ? { column: Number(column) } : {}) } : undefined;
}

export const isWeb = (href: string): boolean => /^https?:\/\//i.test(href);

/** The path, below the folder and as a part of an address, of a picture that a link of markdown names; undefined: it is none. */
export function pictureOf(href: string): string | undefined {
  const path = placeOf(href)?.path;
  if (!path || !/\.(?:png|jpe?g|gif|webp|svg)$/i.test(path) || /^[/\\]|\\|:/.test(path)) return undefined;
  const parts = path.split('/').filter((part) => part !== '.');
  return parts.includes('..') ? undefined : parts.map(encodeURIComponent).join('/');
}
