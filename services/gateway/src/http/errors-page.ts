import { errorCodes } from '@quittance/shared/error-codes';
import { type HtmlPage, html, styledPage } from '@quittance/shared/html';

/** A table, whose rows stand below each other where the screen is narrow. */
const style = `
:root{color-scheme:light dark}
*{box-sizing:border-box}
body{margin:0;padding:1.5rem 1rem;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:68rem;margin:0 auto}
h1{margin:0 0 .25rem;font-size:1.75rem}
p{margin:0 0 1.25rem}
table{width:100%;border-collapse:collapse}
th,td{padding:.6rem .75rem;text-align:left;vertical-align:top;border-top:1px solid #8886}
tbody th{font-weight:400;white-space:nowrap}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-weight:600}
tr:target{background:#f0b35a40}
@media (max-width:48rem){thead{display:none}tr,tbody th,td{display:block;border:0;padding:0;white-space:normal;overflow-wrap:anywhere}
tr{padding:.6rem 0;border-top:1px solid #8886}}
`;

const rows = Object.entries(errorCodes).map(
  ([code, { status, meaning, remedy }]) =>
    html`<tr id="${code}"><th scope="row">${status} <code>${code}</code></th><td>${meaning}</td><td>${remedy}</td></tr>
`,
);

/** What the `doc_url` of an error leads to. */
export const errorsPage: HtmlPage = styledPage(
  'Errors of the API',
  html`<h1>Errors of the API</h1>
<p>The code of an error stands in its body, and of 403 in the header X-Error-Code.</p>
<table>
<thead><tr><th scope="col">Error</th><th scope="col">Meaning</th><th scope="col">What to do</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`,
  style,
);
