import { assets } from '@quittance/shared/assets';
import { DUE_DECIMALS_MAX } from '@quittance/shared/money';
import type { Invariant } from './invariant.ts';

const placesOf = Object.entries(assets)
  .map(([symbol, { decimals }]) => `('${symbol}', ${decimals}, ${Math.min(decimals, DUE_DECIMALS_MAX)})`)
  .join(', ');

// The amount due is the least of its places that covers the price at the locked rates: everything is multiplied, so nothing is
// rounded here.
const choicesAgree = (those: string) => `
  select 'invoice ' || c.invoice_id || ' was chosen in ' || c.asset || ', and there is no such invoice' as what, c.asset,
    'invoice ' || c.invoice_id || ' choice' as subject
  from invoices.asset_choices c
  where ${those} and not exists (select 1 from invoices.invoices i where i.id = c.invoice_id)
  union all
  select 'invoice ' || c.id || ' waits for the choice of its asset, which was made', null, 'invoice ' || c.id || ' waiting'
  from invoices.unchosen_invoices c
  where ${those.replaceAll('c.invoice_id', 'c.id')} and (
    exists (select 1 from invoices.invoices i where i.id = c.id)
    or exists (select 1 from invoices.asset_choices a where a.invoice_id = c.id))
  union all
  select 'invoice ' || c.invoice_id || ' and its choice differ in account, asset, currency or price', c.asset,
    'invoice ' || c.invoice_id || ' terms'
  from invoices.asset_choices c join invoices.invoices i on i.id = c.invoice_id
  where ${those} and ((c.account_id, c.asset, c.currency, c.amount_fiat)
      is distinct from (i.account_id, i.asset, i.currency, i.amount_fiat)
    or not c.asset = any(c.assets))
  union all
  select 'invoice ' || c.invoice_id || ' was chosen, and its amount due is not its price at its rates', c.asset,
    'invoice ' || c.invoice_id || ' amount due'
  from invoices.asset_choices c join invoices.invoices i on i.id = c.invoice_id
    join (values ${placesOf}) as places (asset, decimals, places) on places.asset = i.asset
    cross join lateral (
      select i.amount_due / 10::numeric ^ (places.decimals - places.places) as due,
        i.usd_rate * 100 as rate,
        i.amount_fiat * coalesce((i.fiat_rate ->> 'usd_rate')::numeric, 1) * 10::numeric ^ places.places as price) as exact
  where ${those} and (exact.due <> trunc(exact.due) or exact.due * exact.rate < exact.price
    or (exact.due - 1) * exact.rate >= exact.price)`;

export const choiceInvariants: readonly Invariant[] = [
  {
    number: 'I13',
    name: 'choice-makes-one-invoice',
    meaning:
      'each choice of an asset made one invoice of that id, asset and price, and nothing waits for it any more',
    alone: true,
    pausesPayouts: false,
    sql: choicesAgree('true'),
    recent: (since) =>
      choicesAgree(`c.invoice_id in (
        select o.payload ->> 'resource_id' from invoices.outbox o
        where o.seq > ${since.deposits} and o.kind = 'invoice.asset_chosen')`),
  },
];
