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

/** A time to the minute, as a page shows it. */
export function timeText(at: Date): Html {
  const iso = at.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

export type HtmlPage = {
  status: number;
  html: string;
  /** Its own style sheet, where it has one. */
  style?: string;
  /** It has a form, which goes to the origin of the page. */
  hasForm?: true;
};

/**
 * The style sheet of every page that has none of its own. It follows the light or dark mode of the reader. The QR code stays
 * dark on white, which scanners expect.
 */
export const pageStyle = `
:root{color-scheme:light dark;--ground:#f4f5f7;--card:#fff;--ink:#16181d;--soft:#5b6270;--line:#e2e5ea;
--accent:#2f5bea;--good:#0a7d48;--warn:#9a5b00;--radius:14px}
@media (prefers-color-scheme:dark){:root{--ground:#101216;--card:#1a1d23;--ink:#eef0f4;--soft:#a3abb9;
--line:#2d323b;--accent:#8ba6ff;--good:#4fd094;--warn:#f0b35a}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;background:var(--ground);
color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:26rem;background:var(--card);border:1px solid var(--line);
border-radius:var(--radius);padding:1.75rem 1.5rem;box-shadow:0 8px 30px rgb(0 0 0/.06)}
h1{margin:0;font-size:1.75rem;line-height:1.2;overflow-wrap:anywhere}
h2{margin:1.5rem 0 0;font-size:.85rem;font-weight:400}
p{margin:.5rem 0 0}
.soft{color:var(--soft)}
.state{display:inline-block;margin:0 0 .9rem;padding:.15rem .7rem;border-radius:99px;font-size:.85rem;
font-weight:600;border:1px solid currentColor;color:var(--accent)}
.good{color:var(--good)}.warn{color:var(--warn)}
.code{display:block;width:100%;max-width:15rem;height:auto;margin:1.25rem auto;border-radius:10px}
dl{margin:1.25rem 0 0;border-top:1px solid var(--line)}
dt{margin-top:.8rem;font-size:.85rem;color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.copy{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;user-select:all;-webkit-user-select:all}
.button{display:block;margin-top:1.25rem;padding:.8rem 1rem;border-radius:10px;background:var(--accent);
color:var(--card);text-align:center;text-decoration:none;font-weight:600}
button.button{width:100%;border:0;font:inherit;font-weight:600;cursor:pointer}
.button small{display:block;font-weight:400}
.button:focus-visible,input:focus-visible{outline:3px solid var(--ink);outline-offset:2px}
form{margin-top:1.25rem}
form>.button:first-child{margin-top:0}
label{display:block;font-size:.85rem;color:var(--soft)}
input{display:block;width:100%;margin-top:.3rem;padding:.7rem .8rem;border:1px solid var(--soft);border-radius:10px;
background:var(--ground);color:var(--ink);font:inherit}
ul{list-style:none;margin:.8rem 0 0;padding:0}
li{display:flex;justify-content:space-between;gap:1rem;padding:.45rem 0;border-top:1px solid var(--line)}
`;

export function page(status: number, title: string, body: Html, refreshSeconds?: number): HtmlPage {
  const refresh =
    refreshSeconds === undefined ? undefined : html`<meta http-equiv="refresh" content="${refreshSeconds}">`;
  return { status, html: whole(title, body, pageStyle, refresh) };
}

/** A page with a form. */
export const formPage = (...given: Parameters<typeof page>): HtmlPage => ({
  ...page(...given),
  hasForm: true,
});

/** A page with a style sheet of its own. */
export const styledPage = (title: string, body: Html, css: string): HtmlPage => ({
  status: 200,
  html: whole(title, body, css),
  style: css,
});

const whole = (title: string, body: Html, css: string, refresh?: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${refresh}
<title>${title}</title>
<style>${new Html(css)}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`.text;
