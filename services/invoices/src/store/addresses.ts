import type { Chain, ChainKind } from '@quittance/shared/assets';
import { type Db, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import { invariant } from '@quittance/shared/result';

/** An address with its invoice. */
export type OurAddress = {
  address: string;
  invoiceId: InvoiceId;
  derivationIndex: number;
  minConfirmations: number;
  /** The height of the cursor when it was given out; null: the chain was not scanned yet. */
  givenHeight: number | null;
};

/** Columns of an address `a` and its invoice `i`. */
export const ownedColumns =
  'a.address, a.invoice_id, a.derivation_index, i.min_confirmations, a.given_height';

const selectOurs = query<OurAddress>(
  'addresses_ours',
  `select ${ownedColumns}
   from addresses a join invoices i on i.id = a.invoice_id
   where a.chain = $1 and a.address = any($2::text[])`,
);

/** The owners of those addresses that are ours, by address. */
export async function addressOwners(
  db: Queryable,
  chain: Chain,
  addresses: readonly string[],
): Promise<Map<string, OurAddress>> {
  const rows = await db.rows(selectOurs, [chain, addresses]);
  return new Map(rows.map((row) => [row.address, row]));
}

const updateGiven = statement(
  'addresses_given_height',
  `update addresses set given_height = $2 where chain = $1 and given_height is null`,
);

/** Sets the height of addresses that were given out before the first scan. */
export async function setGivenHeight(trx: Trx, chain: Chain, height: number): Promise<void> {
  await trx.rows(updateGiven, [chain, height]);
}

const selectCount = query<{ count: number }>(
  'addresses_count',
  `select count(*)::int as count from addresses where chain = $1`,
);

/** How many addresses were given out on a chain. Reads a whole index. */
export async function countAddresses(db: Queryable, chain: Chain): Promise<number> {
  return (await db.one(selectCount, [chain])).count;
}

const selectAfter = query<{ address: string }>(
  'addresses_after',
  `select address from addresses where chain = $1 and address > $2 order by address limit $3`,
);

/** The next addresses in alphabetical order. */
export async function addressesAfter(
  db: Queryable,
  chain: Chain,
  after: string,
  limit: number,
): Promise<string[]> {
  return (await db.rows(selectAfter, [chain, after, limit])).map(({ address }) => address);
}

// Rows in a snapshot come from transactions below its xmax, and none below its xmin is in flight: the next query
// begins there. The upper bound leaves out rows of a dump from another server.
type AddressesSince = { given: string[]; next: string };

const selectSince = query<AddressesSince>(
  'addresses_since',
  `select pg_snapshot_xmin(s)::text as next,
     array(
       select address from addresses
       where chain = $1 and given_xid >= $2::xid8 and given_xid < pg_snapshot_xmax(s)) as given
   from pg_current_snapshot() s`,
);

/**
 * Addresses given out by transactions from `since` on (none for undefined), and where the next query begins. An
 * address may be found twice, but none is missed.
 */
export const addressesSince = (
  db: Queryable,
  chain: Chain,
  since: string | undefined,
): Promise<AddressesSince> => db.one(selectSince, [chain, since ?? null]);

/** An unused address and the derivation index of its key. */
export type PoolAddress = { address: string; derivationIndex: number };

/** Networks of a kind share their indexes, so that an address is given out once on all of them. */
const addressBlocks = {
  bitcoin: 'bitcoin_address_blocks',
  evm: 'ethereum_address_blocks',
} as const satisfies Partial<Record<ChainKind, string>>;

/** Reserves a block of derivation indexes and returns its number. */
export async function nextAddressBlock(db: Queryable, kind: keyof typeof addressBlocks): Promise<number> {
  const row = await db.one<{ block: number }>(`select nextval('${addressBlocks[kind]}')::int as block`);
  return row.block;
}

const countPool = query<{ ready: number }>(
  'address_pool_count',
  `select count(*)::int as ready from (
     select 1 from address_pool where chain = $1 limit $2) as counted`,
);

/** How many unused addresses are stored, counted up to `enough`. */
export async function countPoolAddresses(db: Queryable, chain: Chain, enough: number): Promise<number> {
  return (await db.one(countPool, [chain, enough])).ready;
}

const selectNext = query<{ next: number }>(
  'address_pool_next_index',
  `select next_index as next from address_series where chain = $1`,
);

/** The first index without a stored address. */
export async function nextPoolIndex(db: Queryable, chain: Chain): Promise<number> {
  return (await db.maybe(selectNext, [chain]))?.next ?? 0;
}

const beginSeries = statement(
  'address_pool_begin',
  `insert into address_series (chain, next_index) values ($1, 0) on conflict (chain) do nothing`,
);
const advanceSeries = statement(
  'address_pool_advance',
  `update address_series set next_index = $2 + $3 where chain = $1 and next_index = $2 returning 1`,
);
const selectGiven = statement(
  'address_pool_given_before',
  `select 1 from addresses where chain = $1 and address = any($2::text[]) limit 1`,
);
const insertPool = statement(
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
    await trx.rows(beginSeries, [chain]);
    const mine = await trx.maybe(advanceSeries, [chain, from, addresses.length]);
    if (mine === undefined) return 0;
    const given = await trx.maybe(selectGiven, [chain, addresses]);
    invariant(given === undefined, 'the signer derives an address for one index only');
    await trx.rows(insertPool, [chain, from, addresses]);
    return addresses.length;
  });
}

// Concurrent calls skip locked rows and take the next ones.
const takeFromPool = query<PoolAddress>(
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
  db.rows(takeFromPool, [chain, wanted]);

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
