import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, PaymentLinkId } from '@quittance/shared/ids';
import { countOf, type Place, pageOfFound } from '@quittance/shared/pages';
import type { PaymentLink } from '../domain/payment-link.ts';

const columns = `id, account_id as account, description, metadata, currency, amount_fiat, amount_min, amount_max, asset, assets,
  expires_in, succeed_url, timeout_url, valid_until, created_at, deactivated_at`;

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

const selectOne = query<PaymentLink>(
  'payment_links_select',
  `select ${columns} from payment_links where id = $1`,
);

export const findLink = (db: Queryable, id: PaymentLinkId): Promise<PaymentLink | undefined> =>
  db.maybe(selectOne, [id]);

const selectPage = query<PaymentLink>(
  'payment_links_page',
  `select ${columns} from payment_links where account_id = $1 order by id desc limit $2 + 1 offset $3`,
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
): Promise<{ items: PaymentLink[]; total: number }> {
  const [found, { total }] = await Promise.all([
    db.rows(selectPage, [account, place.limit, place.offset]),
    db.one(selectTotal, [account]),
  ]);
  return pageOfFound(total, place, found);
}

const updateDeactivated = query<PaymentLink>(
  'payment_links_deactivate',
  `update payment_links set deactivated_at = coalesce(deactivated_at, $2) where id = $1 returning ${columns}`,
);

/** @returns the link as it is now: the first time counts */
export const deactivateLink = (db: Queryable, id: PaymentLinkId, now: Date): Promise<PaymentLink> =>
  db.one(updateDeactivated, [id, now]);
