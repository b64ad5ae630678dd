import { directionOf, type Language } from './page-language.ts';
import { pageStyle } from './page-style.ts';
import type { PageTexts } from './page-texts/en.ts';

/** Text that is already HTML. All other text is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => escapes[char] ?? char);

type Part = string | number | Html | readonly Html[] | undefined;

/** Fills a template: texts are escaped, Html stays as it is, undefined becomes nothing. */
export function html(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const rendered = parts.map((part) => {
    if (part === undefined) return '';
    if (part instanceof Html) return part.text;
    if (typeof part === 'object') return part.map((one) => one.text).join('');
    return escaped(String(part));
  });
  return new Html(template.reduce((text, piece, i) => text + (rendered[i - 1] ?? '') + piece));
}

export type HtmlPage = {
  status: number;
  html: string;
  /** Its own style sheet, where it has one. */
  style?: string;
  /** It has a form, which goes to the origin of the page. */
  hasForm?: true;
  /** It shows the logo of a shop, which is in the page as a data URI. */
  hasLogo?: true;
  /** The origins that may show it in a frame; none where it is missing or empty. */
  frameAncestors?: readonly string[];
  /** The language that was chosen by the header Accept-Language. */
  language?: Language;
};

/** What a page for customers has beside its body. */
export type PageOptions = {
  /** Of the reader. */
  texts: PageTexts;
  language: Language;
  status?: number;
  /** After how many seconds it is loaded again, or another page instead of it. */
  refresh?: { seconds: number; url?: string } | undefined;
  hasForm?: boolean;
  hasLogo?: boolean;
  frameAncestors?: readonly string[];
};

/** A page for customers, in their language. */
export function page(title: string, body: Html, options: PageOptions): HtmlPage {
  const { status = 200, language, hasForm, hasLogo, frameAncestors = [] } = options;
  return {
    status,
    language,
    html: whole(title, body, pageStyle, options),
    ...(hasForm === true ? { hasForm } : {}),
    ...(hasLogo === true ? { hasLogo } : {}),
    ...(frameAncestors.length > 0 ? { frameAncestors } : {}),
  };
}

/** A page in English with a style sheet of its own. */
export const styledPage = (title: string, body: Html, css: string): HtmlPage => ({
  status: 200,
  html: whole(title, body, css),
  style: css,
});

/** The URL stands without quotes up to the end: none of its characters can end it. */
const refreshOf = ({ refresh }: Pick<PageOptions, 'refresh'>): Html | undefined =>
  refresh === undefined
    ? undefined
    : html`<meta http-equiv="refresh" content="${refresh.seconds}${refresh.url === undefined ? undefined : `;url=${refresh.url}`}">
`;

/** Everything that changes with the state is in `main`; its data attributes are the texts that a script needs. */
function whole(title: string, body: Html, css: string, options?: PageOptions): string {
  const { language = 'en', texts } = options ?? {};
  const main =
    texts === undefined ? html`<main>` : html`<main data-copy="${texts.copy}" data-copied="${texts.copied}">`;
  return html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${options && refreshOf(options)}<title>${title}</title>
<style>${new Html(css)}</style>
</head>
<body>
${main}
${body}
</main>
</body>
</html>
`.text;
}
