import type { Chain } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';

const insertHot = statement(
  'coins_insert_hot',
  `insert into coins (outpoint, chain, address, branch, derivation_index, amount, state)
   select outpoint, $1, $2, 'hot', 0, amount, 'available'
   from unnest($3::text[], $4::numeric[]) as found(outpoint, amount)
   on conflict do nothing`,
);

/** Money that an operator sent to the hot address. What is known already stays as it is. */
export async function insertHotUtxos(
  trx: Trx,
  chain: Chain,
  address: string,
  found: readonly { outpoint: string; amount: Units }[],
): Promise<void> {
  const amounts = found.map(({ amount }) => amount.toString());
  await trx.rows(insertHot, [chain, address, found.map(({ outpoint }) => outpoint), amounts]);
}

const selectCursor = statement('coin_cursors_one', `select height from coin_cursors where chain = $1`);

/** Up to which block the hot address was looked for; undefined when it never was. */
export async function hotAddressCursor(db: Queryable, chain: Chain): Promise<number | undefined> {
  const row = await db.maybe<{ height: string }>(selectCursor, [chain]);
  return row && Number(row.height); // eslint-disable-line no-restricted-syntax -- a height
}

const moveCursor = statement(
  'coin_cursors_move',
  `insert into coin_cursors (chain, height) values ($1, $2)
   on conflict (chain) do update set height = greatest(coin_cursors.height, excluded.height), updated_at = now()`,
);

export async function moveHotAddressCursor(trx: Trx, chain: Chain, height: number): Promise<void> {
  await trx.rows(moveCursor, [chain, height]);
}
