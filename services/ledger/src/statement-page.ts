import { type HtmlPage, html, styledPage } from '@quittance/shared/html';
import type { StatementView } from './views.ts';

const style = `
:root{color-scheme:light}
*{box-sizing:border-box}
body{margin:0;padding:2rem;background:#fff;color:#16181d;font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:50rem;margin:0 auto}
h1{margin:0 0 .25rem;font-size:1.5rem}
p{margin:0 0 1.5rem;color:#5b6270}
table{width:100%;border-collapse:collapse}
th,td{padding:.4rem .6rem;text-align:right;border-bottom:1px solid #e2e5ea;font-variant-numeric:tabular-nums}
th:first-child{text-align:left}
tbody th{font-weight:400}
tfoot th,tfoot td,.balance th,.balance td{font-weight:600}
@page{margin:18mm}
@media print{body{padding:0;font-size:11pt}main{max-width:none}tr{break-inside:avoid}thead{display:table-header-group}}
`;

const day = (time: string): string => time.slice(0, 10);

/** A statement to be printed. */
export function statementPage(statement: StatementView): HtmlPage {
  const { month, asset, currency, from, to, entries, total, generated_at: generatedAt } = statement;
  const balance = (name: string, amount: string) =>
    html`<tr class="balance"><th scope="row">${name}</th><td colspan="3"></td><td>${amount}</td><td></td></tr>`;
  const row = (name: string, { count, amount, fee, net, value }: StatementView['total']) =>
    html`<tr><th scope="row">${name}</th><td>${count}</td><td>${amount}</td><td>${fee}</td><td>${net}</td><td>${value}</td></tr>`;
  const body = html`<h1>Statement ${month}, ${asset.name} (${asset.symbol})</h1>
<p>From ${day(from)} to ${day(to)} (UTC, not included)${statement.complete ? '' : ', which is not over yet'}. Generated on
${day(generatedAt)} at ${generatedAt.slice(11, 16)} UTC.</p>
<table>
<thead><tr><th scope="col">Entry</th><th scope="col">Count</th><th scope="col">Amount</th><th scope="col">Fee</th>
<th scope="col">Net</th><th scope="col">Net in ${currency}</th></tr></thead>
<tbody>
${balance('Opening balance', statement.opening_balance)}
${entries.map((entry) => row(entry.type.replaceAll('_', ' '), entry))}
</tbody>
<tfoot>
${row('Total', total)}
${balance('Closing balance', statement.closing_balance)}
</tfoot>
</table>
${total.without_value === 0 ? '' : html`<p>${total.without_value} of these have no value in ${currency}: no rate was known then.</p>`}`;
  return { ...styledPage(`Statement ${month} ${asset.symbol}`, body, style), isPrivate: true };
}
