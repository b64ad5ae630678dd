import type { Chain } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';

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
