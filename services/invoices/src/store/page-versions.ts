import type { Chain } from '@quittance/shared/assets';
import { type Queryable, query } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import { EXTENDED_MAX_MS } from '../domain/expiry-extension.ts';
import { SHOWN_MAX } from '../domain/mempool-payment.ts';
import { lateAfterMs } from '../domain/page-state.ts';

/** Before the choice the page shows rates: it is another one after this time. */
const CHOICE_SECONDS = 30;

/** What the newest payments of an invoice `i` show on the chain of the cursor `c`: their states and confirmations. */
const newestDeposits = `
  select string_agg(concat_ws(' ', id, state, least(c.height - block_height, min_confirmations)), ' ' order by id)
  from (select * from deposits where invoice_id = i.id order by first_seen_at desc, id desc limit ${SHOWN_MAX}) as d`;

const newestMempoolPayments = `
  select string_agg(concat_ws(' ', outpoint, dropped_at is null), ' ' order by outpoint)
  from (select * from mempool_payments where invoice_id = i.id
        order by first_seen_at desc, outpoint desc limit ${SHOWN_MAX}) as s`;

const heldDeposits = `select count(*) from contradictions where invoice_id = i.id and ended_at is null`;

// Of many payments, those that are older are final or change the invoice itself.
const ofInvoice = `
  select concat_ws('/', 'invoice', i.version, i.expires_at <= $2,
    i.expires_at < $2::timestamptz - interval '${EXTENDED_MAX_MS} milliseconds',
    coalesce(extract(epoch from $2 - c.synced_at) * 1000 > late.after_ms, true), coalesce((${newestDeposits}), '-'),
    coalesce((${newestMempoolPayments}), '-'), (${heldDeposits}),
    (select sum(version) from refunds where invoice_id = i.id))
  from invoices i left join cursors c using (chain)
    left join unnest($3::text[], $4::float8[]) as late(chain, after_ms) using (chain)
  where i.id = watched.id`;

// Not all pages are another one at the same moment.
const ofUnchosen = `
  select concat_ws('/', 'choice', u.version, u.expires_at <= $2,
    div((extract(epoch from $2::timestamptz) + abs(hashtext(u.id) % ${CHOICE_SECONDS}))::bigint, ${CHOICE_SECONDS}))
  from unchosen_invoices u where u.id = watched.id`;

// Without a condition on the version, which would be computed once more for it.
const select = query<{ id: InvoiceId; version: string | null }>(
  'page_versions',
  `select id, left(md5(coalesce((${ofInvoice}), (${ofUnchosen}))), 16) as version
   from unnest($1::text[]) as watched(id)`,
);

/** The chains that are read, each with the time after which it counts as read late. */
export type ReadChains = ReadonlyMap<Chain, { outageMs: number }>;

/**
 * Of each of these invoices that there is: a text that changes with what its page shows.
 */
export async function pageVersions(
  db: Queryable,
  ids: readonly InvoiceId[],
  now: Date,
  chains: ReadChains,
): Promise<Map<InvoiceId, string>> {
  const lateAfter = [...chains.values()].map(({ outageMs }) => lateAfterMs(outageMs));
  const rows = await db.rows(select, [ids, now, [...chains.keys()], lateAfter]);
  return new Map(rows.flatMap(({ id, version }) => (version === null ? [] : [[id, version]])));
}
