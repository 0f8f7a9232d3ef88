// Code in colours: comments, texts, numbers and keywords, as most languages have them. More would need a grammar
// for each.

export type Kind = 'comment' | 'string' | 'number' | 'keyword';
export interface Token { text: string; kind?: Kind }

/** Longer code stays plain: it is looked at, not read. */
const most = 20_000;

const keywords = new Set((
  'abstract and as assert async await begin bool boolean break case catch chan char class const continue def default defer del delete do double elif else elsif end enum except export extends false finally fn for foreach from func '
  + 'function go goto if impl implements import in instanceof int interface is lambda let local loop map match mod module mut namespace new nil none not null or package pass private protected pub public raise range readonly require return '
  + 'select self static string struct super switch then this throw trait true try type typeof union unsafe until use using val var void when where while with yield None True False'
).split(' '));

/** What a comment begins with, where it isn't // and /*. */
const hash = /^(sh|bash|zsh|shell|console|py|python|rb|ruby|yaml|yml|toml|ini|conf|make|makefile|dockerfile|perl|pl|r|elixir|ex|tcl|nix|fish)$/i;
const dashes = /^(sql|lua|haskell|hs|elm|ada)$/i;
/** These have words, and no code. */
const none = /^(|text|txt|plain|plaintext|md|markdown|diff|patch|log|output)$/i;

/** The tokens of code in a language, as a fence names it. */
export function tokensOf(code: string, language: string): Token[] {
  if (none.test(language) || code.length > most) return [{ text: code }];
  const comment = hash.test(language) ? '#[^\\n]*' : dashes.test(language) ? '--[^\\n]*' : '//[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)';
  const quoted = /^(rs|rust)$/i.test(language) ? '' : '*'; // what isn't a letter between quotes is a lifetime there
  const all = new RegExp(`(${comment})|("(?:\\\\.|[^"\\\\\\n])*"?|'(?:\\\\.|[^'\\\\\\n])${quoted}'|\`(?:\\\\.|[^\`\\\\])*\`?)|(\\b\\d[\\w.]*)|([A-Za-z_]\\w*)`, 'g');
  const tokens: Token[] = [];
  let end = 0;
  for (const m of code.matchAll(all)) {
    const kind = m[1] !== undefined ? 'comment' : m[2] !== undefined ? 'string' : m[3] !== undefined ? 'number' : keywords.has(m[0]) ? 'keyword' : undefined;
    if (!kind) continue;
    if (m.index > end) tokens.push({ text: code.slice(end, m.index) });
    tokens.push({ text: m[0], kind });
    end = m.index + m[0].length;
  }
  if (end < code.length) tokens.push({ text: code.slice(end) });
  return tokens;
}
