import { errorCodes } from '@quittance/shared/error-codes';
import { type HtmlPage, html, page } from '@quittance/shared/html';

const rows = Object.entries(errorCodes).map(
  ([
    code,
    { status, meaning, remedy },
  ]) => html`<dt id="${code}">${status} <span class="copy">${code}</span></dt>
<dd>${meaning} ${remedy}</dd>
`,
);

/** What the `doc_url` of an error leads to. */
export const errorsPage: HtmlPage = page(
  200,
  'Errors of the API',
  html`<h1>Errors of the API</h1>
<p class="soft">The code of an error stands in its body, and of 403 in the header X-Error-Code.</p>
<dl>
${rows}</dl>`,
);
