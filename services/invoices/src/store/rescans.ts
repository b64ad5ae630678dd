import type { Chain } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';

/** A rescan that an operator requested, and its progress. */
export type Rescan = {
  id: string;
  fromHeight: number;
  /** The first block that is not read again yet. */
  nextHeight: number;
  /** The last block to read; null: not started. */
  untilHeight: number | null;
  /** The hash of the last block that was read; null: none. */
  lastHash: string | null;
  /** The last address whose balance check was requested; '' none yet. */
  balancesRequestedTo: string;
  found: number;
};

const selectOpen = query<Rescan>(
  'rescans_open',
  `select id, from_height, next_height, until_height, last_hash, balances_requested_to, found
   from rescans where chain = $1 and ended_at is null order by id limit 1`,
);

/** Whether a rescan of a row's chain is open. */
export const isRescanOpen = (alias: string): string =>
  `exists (select from rescans r where r.chain = ${alias}.chain and r.ended_at is null)`;

/** The oldest open rescan. */
export const openRescan = (db: Queryable, chain: Chain): Promise<Rescan | undefined> =>
  db.maybe(selectOpen, [chain]);

const update = statement(
  'rescans_advance',
  `update rescans set until_height = $2, first_height = coalesce(first_height, $3), next_height = $4 + 1, last_hash = $5,
     found = found + $6, tries = 0
   where id = $1`,
);

/** Saves that the blocks from `first` to `last` were read again, with `found` missed payments. */
export async function advanceRescan(
  trx: Trx,
  id: string,
  read: {
    untilHeight: number;
    first: { height: number };
    last: { height: number; hash: string };
    found: number;
  },
): Promise<void> {
  const { untilHeight, first, last, found } = read;
  await trx.rows(update, [id, untilHeight, first.height, last.height, last.hash, found]);
}

const updateTries = query<{ tries: number }>(
  'rescans_try',
  'update rescans set tries = tries + 1 where id = $1 returning tries',
);

/** Counts a step without the next blocks. @returns how many in a row */
export async function countTry(db: Queryable, id: string): Promise<number> {
  return (await db.one(updateTries, [id])).tries;
}

const updateEnded = statement(
  'rescans_end',
  'update rescans set ended_at = $2, failure = $3 where id = $1 and ended_at is null',
);

/** @param failure why it ended early; null: all blocks were read */
export async function endRescan(
  db: Queryable,
  id: string,
  now: Date,
  failure: string | null = null,
): Promise<void> {
  await db.rows(updateEnded, [id, now, failure]);
}

// The outpoint of such a deposit is its block and address, see check-balances.ts.
const selectByBalance = query<{ address: string }>(
  'deposits_found_by_balance',
  `select distinct address from deposits
   where chain = $1 and asset = $2 and invoice_id = any($3::text[]) and outpoint = block_hash || ':' || address`,
);

/** The addresses of these invoices with deposits that were found by their balance. */
export async function addressesPaidInternally(
  trx: Trx,
  chain: Chain,
  nativeAsset: string,
  invoices: readonly InvoiceId[],
): Promise<Set<string>> {
  const rows = await trx.rows(selectByBalance, [chain, nativeAsset, invoices]);
  return new Set(rows.map(({ address }) => address));
}

const updateRecheck = statement(
  'addresses_recheck_balance',
  `update addresses set balance_check_at = $3, balance_height = null
   where chain = $1 and address = any($2::text[])`,
);

/** Checks the balances of these addresses from the beginning, at the next block. */
export async function recheckBalances(
  trx: Trx,
  chain: Chain,
  addresses: readonly string[],
  now: Date,
): Promise<void> {
  if (addresses.length > 0) await trx.rows(updateRecheck, [chain, addresses, now]);
}

const updateCheckSoon = statement(
  'addresses_check_balance_soon',
  `update addresses set balance_check_at = $3
   where chain = $1 and address = any($2::text[]) and (balance_check_at is null or balance_check_at > $3)`,
);
const updateRequestedTo = statement(
  'rescans_balances_requested_to',
  'update rescans set balances_requested_to = $2 where id = $1',
);

/** Requests a balance check of these addresses for the next block, as part of a rescan. */
export async function checkBalancesSoon(
  trx: Trx,
  { id, chain, addresses }: { id: string; chain: Chain; addresses: readonly [string, ...string[]] },
  now: Date,
): Promise<void> {
  await trx.rows(updateCheckSoon, [chain, addresses, now]);
  await trx.rows(updateRequestedTo, [id, addresses.at(-1)]);
}
