import type { Environment } from './environment.ts';
import type { Sale, Shown } from './payer-client.ts';

type Row = {
  id: string;
  asset: string;
  address: string;
  amount_due: string;
  payment_link_id: string | null;
  chosen: number;
};

const ROWS = `
  select i.id, i.asset, i.address, i.amount_due::text as amount_due, i.payment_link_id,
    (select count(*) from invoices.outbox o
     where o.kind = 'invoice.asset_chosen' and o.payload->>'resource_id' = i.id)::int as chosen
  from invoices.invoices i`;

const SHARED = `
  select address, count(*)::int as count from invoices.invoices group by address having count(*) > 1`;

/** What a text says is asked for; the same for all who are shown one invoice. */
const termsOf = ({ asset, address, due }: Shown): string => `${due} ${asset} to ${address}`;

/**
 * Every payer of an invoice is shown one address and one amount, which is its price at the rate that was locked, and every
 * payer of a link has an invoice of his own.
 */
export function brokenSales({ database, chain }: Environment, sales: readonly Sale[]): string[] {
  if (sales.length === 0) return [];
  const found: string[] = [];
  const rows = database.run('invoices', ROWS, [], false) as Row[];
  for (const { address, count } of database.run('invoices', SHARED, [], false))
    found.push(`${count} invoices ask for payments to ${address}`);
  for (const { kind, id, dollars, shown } of sales) {
    for (const [invoice, to] of Map.groupBy(shown, (one) => one.invoice)) {
      const row = rows.find((one) => one.id === invoice);
      const terms = [...new Set(to.map(termsOf))];
      const said = (what: string) => found.push(`${what}: ${kind} ${id}, invoice ${invoice}`);
      if (terms.length > 1) said(`one invoice was shown as ${terms.join(' and as ')}`);
      if (row === undefined) {
        said('a payer was shown an invoice that does not exist');
        continue;
      }
      const { asset, address } = row;
      if (!terms.includes(termsOf({ invoice, asset, address, due: BigInt(row.amount_due) })))
        said(
          `an invoice asks for ${row.amount_due} ${asset} to ${address}, and its payer was shown ${terms[0]}`,
        );
      const symbol = chain.assets.find((one) => one === asset);
      const due = symbol === undefined ? 0n : (chain.unit(symbol) * BigInt(dollars)) / 10n;
      if (BigInt(row.amount_due) !== due)
        said(`an invoice asks for ${row.amount_due} ${asset}, and its price is ${due}`);
      if (kind === 'choice' && row.chosen !== 1) said(`an asset was chosen ${row.chosen} times`);
      if (kind === 'link' && row.payment_link_id !== id)
        said(`a payment of a link is of ${row.payment_link_id}`);
      if (kind === 'link' && to.length > 1) said(`${to.length} payers of a link have one invoice`);
    }
  }
  return found;
}
