import type { Remain } from '@quittance/reconciliation/compare-addresses';
import type { Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';

/** How far the addresses of a chain were looked at in their turn. */
export type AddressRound = {
  after: string;
  beganAt: Date;
  /** When the last whole round began; null: there was none. */
  endedRoundBeganAt: Date | null;
  /** How many addresses there are. */
  count: number;
};

const selectRound = query<AddressRound>(
  'address_rounds_of',
  `select coalesce(r.after_address, '') as after, coalesce(r.began_at, now()) as began_at, r.ended_round_began_at,
     (select count(*) from invoices.addresses where chain = $1)::int as count
   from (values (1)) as one(n) left join address_rounds r on r.chain = $1`,
);

export const addressRound = (db: Queryable, chain: Chain): Promise<AddressRound> =>
  db.one(selectRound, [chain]);

const upsertRound = statement(
  'address_rounds_note',
  `insert into address_rounds (chain, after_address, began_at, ended_round_began_at) values ($1, $2, $3, $4)
   on conflict (chain) do update set after_address = excluded.after_address, began_at = excluded.began_at,
     ended_round_began_at = excluded.ended_round_began_at`,
);

export async function noteRound(
  trx: Trx,
  chain: Chain,
  { after, beganAt, endedRoundBeganAt }: Omit<AddressRound, 'count'>,
): Promise<void> {
  await trx.rows(upsertRound, [chain, after, beganAt, endedRoundBeganAt]);
}

const deleteRemains = statement(
  'address_remains_delete',
  'delete from address_remains where chain = $1 and address = any($2)',
);
const remainRows = bulk({ address: 'text', asset: 'text', amount: 'numeric' });
const insertRemains = statement(
  'address_remains_insert',
  `insert into address_remains (chain, address, asset, amount) select $4, address, asset, amount from ${remainRows.from('found')}`,
);

/** Replaces what is known of these addresses. */
export async function noteRemains(
  trx: Trx,
  chain: Chain,
  lookedAt: readonly string[],
  found: readonly Remain[],
): Promise<void> {
  await trx.rows(deleteRemains, [chain, lookedAt]);
  if (found.length > 0) await trx.rows(insertRemains, [...remainRows.values(found), chain]);
}
