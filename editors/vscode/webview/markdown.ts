// Markdown without HTML, pictures and addresses that lead anywhere.
import MarkdownIt from 'markdown-it';
import { tokensOf } from './highlight';
import { piecesOf, placeOf, type Place } from './links';
import { plain } from './plain';

const md = new MarkdownIt({ html: false, linkify: false, breaks: false });
md.disable('image');

/** An entity of markdown may be what plain takes away. */
const escape = (text: string): string => md.utils.escapeHtml(plain(text));

md.core.ruler.push('unstyled', ({ tokens }) => {
  for (const token of tokens) token.attrs = token.attrs?.filter(([name]) => name !== 'style') ?? null; // of tables; the page allows none
});
let inLink = false;

/** A link leads to a file, or nowhere: then it is said where it would have led. */
md.renderer.rules.link_open = (tokens, at) => {
  const href = String(tokens[at]?.attrGet('href') ?? '');
  const place = placeOf(href);
  inLink = true;
  return place ? opening(place) : `<span class="address" title="${escape(href)}">`;
};
md.renderer.rules.link_close = (tokens, at) => {
  inLink = false;
  let open = at - 1;
  while (open > 0 && tokens[open]?.type !== 'link_open') open--;
  return placeOf(String(tokens[open]?.attrGet('href') ?? '')) ? '</a>' : '</span>';
};
md.renderer.rules.text = (tokens, at) => withPlaces(tokens[at]?.content ?? '');
md.renderer.rules.code_inline = (tokens, at) => `<code>${withPlaces(tokens[at]?.content ?? '')}</code>`;
const plainBlock = (content: string): string => `<pre>${withPlaces(content)}</pre>`;
md.renderer.rules.fence = (tokens, at) => `<pre>${highlighted(tokens[at]?.content ?? '', (tokens[at]?.info ?? '').trim().split(/\s/)[0] ?? '')}</pre>`;
const highlighted = (code: string, language: string): string => tokensOf(code, language).map(({ text, kind }) => (kind ? `<span class="c-${kind}">${withPlaces(text)}</span>` : withPlaces(text))).join('');
md.renderer.rules.code_block = (tokens, at) => plainBlock(tokens[at]?.content ?? '');

function opening({ path, line, column }: Place): string {
  const data = [['path', path], ['line', line], ['column', column]].filter(([, value]) => value !== undefined);
  return `<a role="link" tabindex="0" ${data.map(([key, value]) => `data-${key}="${escape(String(value))}"`).join(' ')}>`;
}

/** A text as HTML, with links of the places in it. */
export function withPlaces(text: string): string {
  return piecesOf(text).map((p) => (p.place && !inLink ? `${opening(p.place)}${escape(p.text)}</a>` : escape(p.text))).join('');
}

export function markdown(text: string): string {
  inLink = false;
  return md.render(text);
}
