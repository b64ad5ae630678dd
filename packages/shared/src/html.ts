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

/** A script that a page has in it. What it loads, the policy of the page must allow. */
export type PageScript = {
  /** As it is sent, and its hash as a policy names it: `sha256-…`. */
  text: string;
  hash: string;
  /** What it may load as further scripts, as sources of a policy. */
  loads: readonly string[];
};

/** What makes a page change by itself. Without scripts it reloads. */
export type Live = {
  script: PageScript;
  /** Attributes `data-…` of <main> for the script, by their names; undefined leaves one out. */
  data: Readonly<Record<string, string | number | undefined>>;
};

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
  /** Without it no script runs. */
  script?: PageScript;
  /** It is of whoever has signed in, and is not compressed. */
  isPrivate?: true;
};

/** What a page for customers has beside its body. */
export type PageOptions = {
  /** Of the reader. */
  texts: PageTexts;
  language: Language;
  status?: number;
  /** After how many seconds it is loaded again, or another page instead of it; with `live` only where no script runs. */
  refresh?: { seconds: number; url?: string } | undefined;
  hasForm?: boolean;
  hasLogo?: boolean;
  frameAncestors?: readonly string[];
  live?: Live | undefined;
};

/** A page for customers, in their language. */
export function page(title: string, body: Html, options: PageOptions): HtmlPage {
  const { status = 200, language, hasForm, hasLogo, frameAncestors = [], live } = options;
  return {
    status,
    language,
    html: whole(title, body, pageStyle, options),
    ...(hasForm === true ? { hasForm } : {}),
    ...(hasLogo === true ? { hasLogo } : {}),
    ...(frameAncestors.length > 0 ? { frameAncestors } : {}),
    ...(live === undefined ? {} : { script: live.script }),
  };
}

/** A page in English with a style sheet of its own. */
export const styledPage = (title: string, body: Html, css: string): HtmlPage => ({
  status: 200,
  html: whole(title, body, css),
  style: css,
});

/** The URL stands without quotes up to the end: none of its characters can end it. */
function refreshOf({ refresh, live }: Pick<PageOptions, 'refresh' | 'live'>): Html | undefined {
  if (refresh === undefined) return undefined;
  const { seconds, url } = refresh;
  const meta = html`<meta http-equiv="refresh" content="${seconds}${url === undefined ? undefined : `;url=${url}`}">`;
  return live === undefined ? html`${meta}\n` : html`<noscript>${meta}</noscript>\n`;
}

/** Everything that changes with the state is in `main`; its data attributes are what the script needs. */
function mainOf({ data, script }: Live, texts: PageTexts, body: Html): Html {
  const given = Object.entries({ ...data, copy: texts.copy, copied: texts.copied });
  const attributes = given.flatMap(([name, value]) =>
    value === undefined ? [] : [html` data-${name}="${value}"`],
  );
  return html`<main${attributes}>
${body}
</main>
<p id="voice" class="unseen" role="status"></p>
<script>${new Html(script.text)}</script>`;
}

function whole(title: string, body: Html, css: string, options?: PageOptions): string {
  const { language = 'en', texts, live } = options ?? {};
  const main =
    live === undefined || texts === undefined
      ? html`<main>
${body}
</main>`
      : mainOf(live, texts, body);
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
</body>
</html>
`.text;
}
