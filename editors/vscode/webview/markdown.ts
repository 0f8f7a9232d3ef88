// Markdown without HTML. A link leads to a file or, where the user agrees, into the web; pictures are the folder's own.
import MarkdownIt from 'markdown-it';
import { tokensOf } from './highlight';
import { isWeb, pictureOf, piecesOf, placeOf, type Place } from './links';
import { plain } from './plain';

const md = new MarkdownIt({ html: false, linkify: true, breaks: false });
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false }); // main.rs is no host

/** An entity of markdown may be what plain takes away. */
const escape = (text: string): string => md.utils.escapeHtml(plain(text));

md.core.ruler.push('unstyled', ({ tokens }) => {
  for (const token of tokens) token.attrs = token.attrs?.filter(([name]) => name !== 'style') ?? null; // of tables; the page allows none
});
/** A list of tasks: its boxes are drawn, and no button. */
md.core.ruler.push('tasks', ({ tokens }) => {
  tokens.forEach((token, at) => {
    const [text] = token.children ?? [];
    if (token.type !== 'inline' || tokens[at - 2]?.type !== 'list_item_open' || text?.type !== 'text') return;
    const box = /^\[([ xX])\](?=\s)/.exec(text.content);
    if (!box) return;
    text.content = `${box[1] === ' ' ? '☐' : '☑'}${text.content.slice(box[0].length)}`;
    tokens[at - 2]!.attrJoin('class', 'task');
  });
});
interface Environment { files?: string }
let inLink = false;

/** Around what leads to a file or into the web; what leads nowhere says where it would have led. */
function around(href: string): [string, string] {
  const place = placeOf(href);
  if (place) return [opening(place), '</a>'];
  if (isWeb(href)) return [`<a role="link" tabindex="0" title="${escape(href)}" data-web="${escape(href)}">`, '</a>'];
  return [`<span class="address" title="${escape(href)}">`, '</span>'];
}

md.renderer.rules.link_open = (tokens, at) => {
  inLink = true;
  return around(String(tokens[at]?.attrGet('href') ?? ''))[0];
};
md.renderer.rules.link_close = (tokens, at) => {
  inLink = false;
  let open = at - 1;
  while (open > 0 && tokens[open]?.type !== 'link_open') open--;
  return around(String(tokens[open]?.attrGet('href') ?? ''))[1];
};
/** A picture of the folder is shown, any other is a link: nothing is fetched because an agent wrote of it. */
md.renderer.rules.image = (tokens, at, _, environment) => {
  const href = String(tokens[at]?.attrGet('src') ?? '');
  const alt = escape(tokens[at]?.content || href);
  const { files } = (environment ?? {}) as Environment;
  const picture = files && pictureOf(href);
  const shown = picture ? `<img loading="lazy" alt="${alt}" src="${escape(`${files}/${picture}`)}">` : alt;
  return inLink ? shown : around(href).join(shown);
};
md.renderer.rules.text = (tokens, at) => withPlaces(tokens[at]?.content ?? '');
md.renderer.rules.code_inline = (tokens, at) => `<code>${withPlaces(tokens[at]?.content ?? '')}</code>`;
const plainBlock = (content: string): string => `<pre>${withPlaces(content)}</pre>`;
md.renderer.rules.fence = (tokens, at) => {
  const { content = '', info = '' } = tokens[at] ?? {};
  const language = info.trim().split(/\s/)[0] ?? '';
  return /^(diff|patch)$/i.test(language) ? `<pre class="diff">${differing(content)}</pre>` : `<pre>${highlighted(content, language)}</pre>`;
};
/** The lines of a diff, by what became of each. */
const differing = (content: string): string => content.replace(/\n$/, '').split('\n').map((line) => {
  const tag = /^\+(?!\+\+ )/.test(line) ? 'ins' : /^-(?!-- )/.test(line) ? 'del' : 'span';
  return `<${tag}>${withPlaces(line)}\n</${tag}>`;
}).join('');
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

/** files: where the page finds the folder's files. */
export function markdown(text: string, files?: string): string {
  inLink = false;
  return md.render(text, { files } satisfies Environment);
}
