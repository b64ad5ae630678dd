import type { Chain } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';

const selectAfter = query<{ after: string }>(
  'address_rounds_of',
  'select after_address as after from address_rounds where chain = $1',
);

/** The last address of a chain that was looked at in its turn; empty at the beginning of a round. */
export const lastAddress = async (db: Queryable, chain: Chain): Promise<string> =>
  (await db.maybe(selectAfter, [chain]))?.after ?? '';

const upsert = statement(
  'address_rounds_note',
  `insert into address_rounds (chain, after_address) values ($1, $2)
   on conflict (chain) do update set after_address = excluded.after_address`,
);

export async function noteLastAddress(trx: Trx, chain: Chain, after: string): Promise<void> {
  await trx.rows(upsert, [chain, after]);
}
