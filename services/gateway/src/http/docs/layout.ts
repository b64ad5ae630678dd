import { Html, html } from '@quittance/shared/html';
import { DOCS_PATH, type DocumentPage, type Library } from './library.ts';

/** The one style sheet of the documents: light and dark, phone and desktop. */
export const docsStyle = `
:root{color-scheme:light dark;--ground:#fff;--ink:#16181d;--soft:#555c69;--line:#dfe2e7;--code:#f3f4f6;--accent:#2348c9}
@media (prefers-color-scheme:dark){:root{--ground:#101216;--ink:#e9ebef;--soft:#a3abb9;--line:#2d323b;--code:#1a1d23;--accent:#9db2ff}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
a{color:var(--accent)}
a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
header{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;padding:.75rem 1rem;border-bottom:1px solid var(--line)}
header a{color:var(--ink);text-decoration:none;padding:.25rem 0}
header a:first-child{font-weight:700;margin-right:auto}
main{min-width:0;padding:1.5rem 1rem 3rem}
h1{margin:0 0 1rem;font-size:2rem;line-height:1.2}
h2{margin:2.5rem 0 .75rem;font-size:1.4rem;line-height:1.3}
h3{margin:2rem 0 .5rem;font-size:1.1rem}
h1,h2,h3,p,li{overflow-wrap:anywhere}
p,ul,ol,pre,.wide{margin:0 0 1rem}
li{margin:.25rem 0}
code{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--code);padding:.1em .3em;border-radius:4px}
pre{overflow-x:auto;padding:.9rem 1rem;background:var(--code);border:1px solid var(--line);border-radius:8px}
pre code{padding:0;background:none}
.wide{overflow-x:auto}
table{border-collapse:collapse;min-width:100%}
th,td{padding:.5rem .75rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);min-width:6rem}
td:last-child{min-width:14rem}
img{max-width:100%;min-width:36rem;height:auto}
blockquote{margin:0 0 1rem;padding-left:1rem;border-left:3px solid var(--line);color:var(--soft)}
details{margin:0 0 1.5rem;padding:.5rem 1rem;border:1px solid var(--line);border-radius:8px}
summary{cursor:pointer}
.soft{color:var(--soft)}
nav{padding:1.5rem 1rem;border-top:1px solid var(--line);font-size:.95rem}
nav h2{margin:1.25rem 0 .25rem;font-size:.85rem;color:var(--soft)}
nav ul{list-style:none;margin:0;padding:0}
nav a{display:inline-block;padding:.2rem 0;text-decoration:none}
nav a[aria-current]{font-weight:700;color:var(--ink)}
@media (min-width:60rem){
.contents{display:none}
.columns{display:grid;grid-template-columns:16rem minmax(0,1fr);max-width:78rem;margin:0 auto}
nav{grid-row:1;border-top:0;border-right:1px solid var(--line)}
nav h2:first-child{margin-top:0}
main{padding:1.5rem 2rem 4rem 2.5rem;max-width:60rem}
}
`;

const titles = { guide: 'Guides', reference: 'Reference', operator: 'For operators', other: 'Background' };
const kinds = ['guide', 'reference', 'operator'] as const;

const linkTo = (path: string): string => `${DOCS_PATH}/${path}`;

const pagesOf = (library: Library, kind: DocumentPage['kind']): DocumentPage[] =>
  [...library.pages.values()].filter((page) => page.kind === kind);

function menuItem(href: string, title: string, current: string): Html {
  return href === current
    ? html`<li><a href="${href}" aria-current="page">${title}</a></li>\n`
    : html`<li><a href="${href}">${title}</a></li>\n`;
}

function menu(library: Library, current: string): Html {
  const parts = kinds.map((kind) => {
    const items = pagesOf(library, kind).map(({ path, document }) =>
      menuItem(linkTo(path), document.title, current),
    );
    const before =
      kind === 'reference'
        ? [menuItem(linkTo('reference'), 'Endpoints', current), menuItem(linkTo('errors'), 'Errors', current)]
        : [];
    return html`<h2>${titles[kind]}</h2>\n<ul>\n${[...before, ...items]}</ul>\n`;
  });
  return html`<nav id="contents" aria-label="Documents">\n${parts}</nav>`;
}

type Framed = { title: string; body: Html; current: string; markdown?: string };

/** A page with its head, its header and the list of all documents. */
function framed(library: Library, { title, body, current, markdown }: Framed): string {
  const alternate =
    markdown === undefined
      ? undefined
      : html`<link rel="alternate" type="text/markdown" href="${markdown}">\n`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${alternate}<title>${title} · Quittance</title>
<style>${new Html(docsStyle)}</style>
</head>
<body>
<header><a href="${DOCS_PATH}">Quittance</a><a href="${linkTo('guides')}">Guides</a><a href="${linkTo('reference')}">Endpoints</a><a class="contents" href="#contents">Contents</a></header>
<div class="columns">
<main>
${body}</main>
${menu(library, current)}
</div>
</body>
</html>
`.text;
}

/** From so many headings on a document begins with the list of them. */
const HEADINGS_LISTED_MIN = 4;

/** A document as a page. */
export function documentPage(library: Library, { path, document }: DocumentPage): string {
  const { headings, title } = document;
  const items = headings.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>\n`);
  const list =
    headings.length < HEADINGS_LISTED_MIN
      ? ''
      : html`<details><summary>On this page</summary>\n<ul>\n${items}</ul>\n</details>\n`.text;
  const text = document.html.replace(/<\/h1>\n/, `</h1>\n${list}`);
  const markdown = `${linkTo(path)}.md`;
  const body = html`${new Html(text)}<p class="soft"><a href="${markdown}">This page as Markdown</a></p>\n`;
  return framed(library, { title, body, current: linkTo(path), markdown });
}

function listOf(library: Library, kind: (typeof kinds)[number]): Html {
  const items = pagesOf(library, kind).map(
    ({ path, document }) =>
      html`<li><a href="${linkTo(path)}">${document.title}</a><br><span class="soft">${document.summary}</span></li>\n`,
  );
  return html`<ul>\n${items}</ul>\n`;
}

export function indexPage(library: Library): string {
  const body = html`<h1>Quittance docs</h1>
<p>Quittance accepts crypto payments on a server of your own. Begin with <a href="${linkTo('guides/accept-a-payment')}">accept a payment</a>.</p>
<p><a href="${linkTo('reference')}">All endpoints with their fields and examples</a>, also as an <a href="/api/openapi.json">OpenAPI document</a>. <a href="${linkTo('errors')}">All errors</a>. For programs that read: <a href="/llms.txt">llms.txt</a>.</p>
${kinds.map((kind) => html`<h2>${titles[kind]}</h2>\n${listOf(library, kind)}`)}`;
  return framed(library, { title: 'Docs', body, current: DOCS_PATH });
}

export function guidesPage(library: Library): string {
  const body = html`<h1>Guides</h1>\n<p>Each guide is one task, with the code for it.</p>\n${listOf(library, 'guide')}`;
  return framed(library, { title: 'Guides', body, current: linkTo('guides') });
}

/** https://llmstxt.org: what there is, with the URLs of the markdown. */
export function llmsText(library: Library, publicUrl: string): string {
  const sections = kinds.map((kind) => {
    const lines = pagesOf(library, kind).map(
      ({ path, document }) => `- [${document.title}](${publicUrl}${linkTo(path)}.md): ${document.summary}`,
    );
    return `## ${titles[kind]}\n\n${lines.join('\n')}\n`;
  });
  return `# Quittance

> Quittance is a self-hosted service that accepts crypto payments: invoices in US dollars and other currencies, paid in Bitcoin, Ether, SOL or USDC, with a JSON API, signed webhooks, refunds and payouts.

Base URL of the API: ${publicUrl}/api. Every request has the header \`Authorization: Bearer TOKEN\`. Amounts in answers are decimal strings. Ship goods when an invoice is \`paid\`, never when it is \`confirmed\`.

The OpenAPI document of all endpoints is ${publicUrl}/api/openapi.json.

${sections.join('\n')}`;
}
