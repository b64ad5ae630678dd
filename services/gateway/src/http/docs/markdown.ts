import { html } from '@quittance/shared/html';
import { Marked, type Tokens } from 'marked';

/** Where a link of a document leads on a page; undefined when it leads to a file that is no page. */
export type LinkOf = (target: string) => string | undefined;

export type Document = {
  title: string;
  /** The first paragraph, as text. */
  summary: string;
  headings: readonly { id: string; text: string }[];
  html: string;
};

const escaped = (text: string): string => html`${text}`.text;

/** The anchor that GitHub gives a heading, so that a link leads to the same place here and there. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

const textOf = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Renders a document of ours. HTML in it is shown as text, and comments are left out. */
export function render(markdown: string, linkOf: LinkOf): Document {
  const headings: { id: string; text: string; depth: number }[] = [];
  const marked = new Marked({
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) =>
        text.trimStart().startsWith('<!--') ? '' : escaped(text),
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = anchorOf(text);
        headings.push({ id, text: textOf(text), depth });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const target = linkOf(href);
        return target === undefined ? text : `<a href="${escaped(target)}">${text}</a>`;
      },
      paragraph({ tokens }: Tokens.Paragraph) {
        const text = this.parser.parseInline(tokens);
        const isPicture = tokens.length === 1 && tokens[0]?.type === 'image';
        return isPicture ? `<div class="wide" tabindex="0">${text}</div>\n` : `<p>${text}</p>\n`;
      },
      image({ href, text }: Tokens.Image) {
        return `<img src="${escaped(linkOf(href) ?? href)}" alt="${escaped(text)}">`;
      },
      // What is wider than a phone scrolls by itself, also for who has no mouse.
      code({ text, lang }: Tokens.Code) {
        const language = lang?.split(' ', 1)[0] ?? '';
        return `<pre tabindex="0"><code class="${escaped(language)}">${escaped(text)}\n</code></pre>\n`;
      },
      table({ header, rows }: Tokens.Table) {
        const cells = (row: readonly Tokens.TableCell[], tag: 'th' | 'td') =>
          row
            .map(({ tokens }) => ({
              text: this.parser.parseInline(tokens),
              tag: tokens.length === 0 ? 'td' : tag,
            }))
            .map(({ text, tag }) => `<${tag}>${text}</${tag}>`)
            .join('');
        const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>\n`).join('');
        return `<div class="wide" tabindex="0"><table>
<thead><tr>${cells(header, 'th')}</tr></thead>
<tbody>
${body}</tbody>
</table></div>
`;
      },
    },
  });
  const tokens = marked.lexer(markdown);
  const text = marked.parser(tokens);
  const paragraph = tokens.find(({ type }) => type === 'paragraph');
  return {
    title: headings[0]?.text ?? '',
    summary: textOf((paragraph as Tokens.Paragraph | undefined)?.text ?? ''),
    headings: headings.filter(({ depth }) => depth === 2),
    html: text,
  };
}
