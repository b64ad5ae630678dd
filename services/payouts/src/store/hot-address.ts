import type { Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';

const outputs = bulk({ outpoint: 'text', amount: 'numeric' }, 3);

const insertHot = statement(
  'utxos_insert_hot',
  `insert into utxos (outpoint, chain, address, branch, derivation_index, amount, state)
   select outpoint, $1, $2, 'hot', 0, amount, 'available'
   from ${outputs.from('found')}
   on conflict do nothing`,
);

/** Stores money that an operator sent to the hot address. Known UTXOs stay as they are. */
export async function insertHotUtxos(
  trx: Trx,
  chain: Chain,
  address: string,
  found: readonly { outpoint: string; amount: Units }[],
): Promise<void> {
  await trx.rows(insertHot, [chain, address, ...outputs.values(found)]);
}

const selectCursor = query<{ height: number }>(
  'hot_address_cursors_one',
  `select height::float8 from hot_address_cursors where chain = $1`,
);

/** Up to which block payments to the hot address were read; undefined before the first time. */
export async function hotAddressCursor(db: Queryable, chain: Chain): Promise<number | undefined> {
  return (await db.maybe(selectCursor, [chain]))?.height;
}

const moveCursor = statement(
  'hot_address_cursors_move',
  `insert into hot_address_cursors (chain, height) values ($1, $2)
   on conflict (chain) do update set height = greatest(hot_address_cursors.height, excluded.height), updated_at = now()`,
);

export async function moveHotAddressCursor(trx: Trx, chain: Chain, height: number): Promise<void> {
  await trx.rows(moveCursor, [chain, height]);
}
