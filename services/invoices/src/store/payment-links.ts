import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, PaymentLinkId } from '@quittance/shared/ids';
import { countOf, type Place, pageOfFound } from '@quittance/shared/pages';
import type { CountedLink, PaymentLink } from '../domain/payment-link.ts';

const columns = `id, account_id as account, description, metadata, currency, amount_fiat, amount_min, amount_max, asset, assets,
  expires_in, succeed_url, timeout_url, valid_until, max_open, created_at, deactivated_at`;

/** The number of open invoices of a link, before and after the choice of their asset, in one snapshot. `id` is SQL. */
const openOf = (id: string) => `
  (select count(*) from invoices i
   where i.payment_link_id = ${id} and i.status in ('pending', 'partially_paid', 'confirmed'))::int
  + (select count(*) from unchosen_invoices u where u.payment_link_id = ${id} and u.status = 'pending')::int as open_invoices`;
const counted = `${columns}, ${openOf('payment_links.id')}`;

const newLinks = bulk({
  id: 'text',
  account: 'account_id text',
  description: 'text',
  metadata: 'json',
  currency: 'text',
  amountFiat: 'numeric',
  amountMin: 'numeric',
  amountMax: 'numeric',
  asset: 'text',
  assets: 'json',
  expiresIn: 'int',
  succeedUrl: 'text',
  timeoutUrl: 'text',
  validUntil: 'timestamptz',
  maxOpen: 'int',
  createdAt: 'timestamptz',
});
const otherColumns = newLinks.columns.replace(/\bassets, /, '');

const insertOne = statement(
  'payment_links_insert',
  `insert into payment_links (assets, ${otherColumns})
   select case when assets is not null then array(select json_array_elements_text(assets)) end, ${otherColumns}
   from ${newLinks.fromOne('given')}`,
);

export async function insertLink(trx: Trx, link: PaymentLink): Promise<void> {
  const { metadata, assets } = link;
  const row = { ...link, metadata: JSON.stringify(metadata), assets: assets && JSON.stringify(assets) };
  await trx.rows(insertOne, newLinks.valuesOfOne(row));
}

const selectOne = query<CountedLink>(
  'payment_links_select',
  `select ${counted} from payment_links where id = $1`,
);

export const findLink = (db: Queryable, id: PaymentLinkId): Promise<CountedLink | undefined> =>
  db.maybe(selectOne, [id]);

const lockOne = query<PaymentLink>(
  'payment_links_lock',
  `select ${columns} from payment_links where id = $1 for update`,
);
const countOpen = query<{ openInvoices: number }>('payment_links_open', `select ${openOf('$1')}`);

/**
 * Locks a link and counts its open invoices. The count is a statement of its own: it sees what was committed before the lock was
 * given.
 */
export async function lockLink(trx: Trx, id: PaymentLinkId): Promise<CountedLink> {
  const link = await trx.one(lockOne, [id]);
  return { ...link, ...(await trx.one(countOpen, [id])) };
}

const selectPage = query<CountedLink>(
  'payment_links_page',
  `select ${counted} from payment_links where account_id = $1 order by id desc limit $2 + 1 offset $3`,
);
const selectTotal = query<{ total: number }>(
  'payment_links_total',
  countOf('payment_links where account_id = $1'),
);

/** The links of an account, newest first. */
export async function listLinks(
  db: Queryable,
  account: AccountId,
  place: Place,
): Promise<{ items: CountedLink[]; total: number }> {
  const [found, { total }] = await Promise.all([
    db.rows(selectPage, [account, place.limit, place.offset]),
    db.one(selectTotal, [account]),
  ]);
  return pageOfFound(total, place, found);
}

const updateDeactivated = query<CountedLink>(
  'payment_links_deactivate',
  `update payment_links set deactivated_at = coalesce(deactivated_at, $2) where id = $1 returning ${counted}`,
);

/** @returns the link as it is now: the first time counts */
export const deactivateLink = (db: Queryable, id: PaymentLinkId, now: Date): Promise<CountedLink> =>
  db.one(updateDeactivated, [id, now]);

const updateMaxOpen = query<CountedLink>(
  'payment_links_max_open',
  `update payment_links set max_open = $2 where id = $1 returning ${counted}`,
);

/** Changes how many invoices of a link may be open. Those that are open stay so. @returns the link as it is now */
export const saveMaxOpen = (db: Queryable, id: PaymentLinkId, maxOpen: number): Promise<CountedLink> =>
  db.one(updateMaxOpen, [id, maxOpen]);
