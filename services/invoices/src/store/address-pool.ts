import type { Chain, ChainKind } from '@quittance/shared/assets';
import { type Db, type Queryable, query, statement } from '@quittance/shared/db';
import { invariant } from '@quittance/shared/result';

/** An unused address and the derivation index of its key. */
export type PoolAddress = { address: string; derivationIndex: number };

/** Networks of a kind share their indexes, so that an address is given out once on all of them. */
const addressBlocks = {
  bitcoin: 'bitcoin_address_blocks',
  evm: 'ethereum_address_blocks',
} as const satisfies Partial<Record<ChainKind, string>>;
export type KindWithPublicKeys = keyof typeof addressBlocks;

/** Reserves a block of derivation indexes and returns its number. */
export async function nextAddressBlock(db: Queryable, kind: KindWithPublicKeys): Promise<number> {
  const row = await db.one<{ block: number }>(`select nextval('${addressBlocks[kind]}')::int as block`);
  return row.block;
}

const count = query<{ ready: number }>(
  'address_pool_count',
  `select count(*)::int as ready from (
     select 1 from address_pool where chain = $1 limit $2) as counted`,
);

/** How many unused addresses are stored, counted up to `enough`. */
export async function countPoolAddresses(db: Queryable, chain: Chain, enough: number): Promise<number> {
  return (await db.one(count, [chain, enough])).ready;
}

const selectNext = query<{ next: number }>(
  'address_pool_next_index',
  `select next_index as next from address_series where chain = $1`,
);

/** The first index without a stored address. */
export async function nextPoolIndex(db: Queryable, chain: Chain): Promise<number> {
  return (await db.maybe(selectNext, [chain]))?.next ?? 0;
}

const begin = statement(
  'address_pool_begin',
  `insert into address_series (chain, next_index) values ($1, 0) on conflict (chain) do nothing`,
);
const advance = statement(
  'address_pool_advance',
  `update address_series set next_index = $2 + $3 where chain = $1 and next_index = $2 returning 1`,
);
const selectGiven = statement(
  'address_pool_given_before',
  `select 1 from addresses where chain = $1 and address = any($2::text[]) limit 1`,
);
const insert = statement(
  'address_pool_insert',
  `insert into address_pool (chain, derivation_index, address)
   select $1, $2 + place - 1, address from unnest($3::text[]) with ordinality as named(address, place)`,
);

/**
 * Saves the addresses of indexes `from` and up. Returns how many: 0 when another replica was faster. Throws when one
 * was given out before, because then it belongs to another index.
 */
export async function savePoolAddresses(
  db: Db,
  chain: Chain,
  from: number,
  addresses: readonly string[],
): Promise<number> {
  return await db.transaction(async (trx) => {
    await trx.rows(begin, [chain]);
    const mine = await trx.maybe(advance, [chain, from, addresses.length]);
    if (mine === undefined) return 0;
    const given = await trx.maybe(selectGiven, [chain, addresses]);
    invariant(given === undefined, 'payouts derives an address for one index only');
    await trx.rows(insert, [chain, from, addresses]);
    return addresses.length;
  });
}

// Concurrent calls skip locked rows and take the next ones.
const take = query<PoolAddress>(
  'address_pool_take',
  `with taken as materialized (
     select chain, derivation_index from address_pool where chain = $1
     order by derivation_index limit $2 for update skip locked)
   delete from address_pool s using taken t
   where s.chain = t.chain and s.derivation_index = t.derivation_index
   returning s.address, s.derivation_index`,
);

/** Takes up to `wanted` addresses, each given to one caller only. */
export const takePoolAddresses = (db: Queryable, chain: Chain, wanted: number): Promise<PoolAddress[]> =>
  db.rows(take, [chain, wanted]);

const selectComparison = query<{ named: string }>(
  'key_comparisons_select',
  `select named_address as named from key_comparisons where chain = $1 and first_address = $2`,
);

/** The first address by the last answer of payouts; undefined without one. */
export async function savedFirstAddress(
  db: Queryable,
  chain: Chain,
  first: string,
): Promise<string | undefined> {
  return (await db.maybe(selectComparison, [chain, first]))?.named;
}

const upsertComparison = statement(
  'key_comparisons_save',
  `insert into key_comparisons (chain, first_address, named_address, compared_at) values ($1, $2, $3, now())
   on conflict on constraint key_comparisons_once do update
   set named_address = excluded.named_address, compared_at = excluded.compared_at`,
);

/** Saves the answer of payouts: `first` is the first address by our public key, `named` the one by its keys. */
export async function saveFirstAddress(
  db: Queryable,
  chain: Chain,
  { first, named }: { first: string; named: string },
): Promise<void> {
  await db.rows(upsertComparison, [chain, first, named]);
}
