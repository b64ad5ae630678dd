import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import { type Units, units } from '@quittance/shared/money';
import type { Movement } from '../domain/balance.ts';
import type { OurAddress } from './addresses.ts';
import { notContradicted } from './contradictions.ts';

const selectBalancesHeight = statement(
  'cursors_balances_seen',
  `select balances_height from cursors where chain = $1`,
);

/** The height at which all due balances were checked. */
export async function balancesCheckedAt(db: Queryable, chain: Chain): Promise<number | null> {
  return (await db.one<{ balances_height: number | null }>(selectBalancesHeight, [chain])).balances_height;
}

/** An address whose balance is checked. */
export type WatchedAddress = OurAddress & {
  /** The asset of its invoice. */
  asset: AssetSymbol;
  /** The height at which its balance was last explained in full. */
  balanceHeight: number | null;
  /** Its balance before it was given out; null: not checked yet. */
  balanceBefore: Units | null;
  /** When its invoice was paid or closed. */
  doneAt: Date | null;
};

const watchedColumns = `a.address, a.invoice_id as "invoiceId", a.derivation_index as "derivationIndex",
     i.min_confirmations as "minConfirmations", a.given_height as "givenHeight",
     a.balance_height as "balanceHeight", a.balance_before as "balanceBefore",
     i.asset, coalesce(i.paid_at, i.closed_at) as "doneAt"`;

type WatchedRow = Omit<WatchedAddress, 'balanceBefore'> & { balanceBefore: string | null };

const toWatched = (row: WatchedRow): WatchedAddress => ({
  ...row,
  balanceBefore: row.balanceBefore === null ? null : units(row.balanceBefore),
});

const selectBalancesDue = statement(
  'addresses_balance_due',
  `select ${watchedColumns}
   from addresses a join invoices i on i.id = a.invoice_id
   where a.chain = $1 and a.balance_check_at <= $2 and a.balance_height is distinct from $3
     and ${notContradicted}
   order by a.balance_check_at, a.address limit $4`,
);

/** The due addresses that were not checked at this height, the longest waiting first. */
export async function balancesDue(
  db: Queryable,
  chain: Chain,
  height: number,
  now: Date,
  limit: number,
): Promise<WatchedAddress[]> {
  return (await db.rows<WatchedRow>(selectBalancesDue, [chain, now, height, limit])).map(toWatched);
}

const selectBalancesBlockingExpiry = statement(
  'addresses_balance_holding_up',
  `select ${watchedColumns}
   from invoices i join addresses a on a.chain = i.chain and a.address = i.address
   where i.closed_at is null and i.status in ('pending', 'partially_paid') and i.chain = $1
     and i.expires_at < $2 and a.balance_check_at is not null
     and (a.balance_known_until is null or a.balance_known_until <= i.expires_at)
     and ${notContradicted}
   order by i.expires_at, i.id limit $3`,
);

/** The addresses of expired invoices that must be checked before the invoices may close. */
export async function balancesBlockingExpiry(
  db: Queryable,
  chain: Chain,
  knownUntil: Date,
  limit: number,
): Promise<WatchedAddress[]> {
  return (await db.rows<WatchedRow>(selectBalancesBlockingExpiry, [chain, knownUntil, limit])).map(toWatched);
}

// Summed by block: anybody may send thousands of payments in one.
const selectMovements = statement(
  'addresses_native_movements',
  `select address, block_height as height, sum(amount)::text as amount from (
     select address, block_height, amount from deposits
     where chain = $1 and asset = $3 and state in ('seen', 'settled')
       and invoice_id = any($4::text[]) and address = any($2::text[])
     union all
     select address, block_height, -amount from spends where chain = $1 and address = any($2::text[])) as moved
   group by address, block_height`,
);

/** All known native transfers to and from these addresses, by block. */
export async function nativeMovements(
  db: Queryable,
  chain: Chain,
  nativeAsset: string,
  addresses: readonly Pick<OurAddress, 'address' | 'invoiceId'>[],
): Promise<Map<string, (Movement & { address: string })[]>> {
  const rows = await db.rows<{ address: string; height: number; amount: string }>(selectMovements, [
    chain,
    addresses.map(({ address }) => address),
    nativeAsset,
    addresses.map(({ invoiceId }) => invoiceId),
  ]);
  const movements = rows.map((row) => ({ ...row, amount: units(row.amount) }));
  return Map.groupBy(movements, ({ address }) => address);
}

/** The result of a balance check. */
export type BalanceCheck = {
  address: string;
  /** The height at which the balance is explained in full. */
  height: number;
  /** All contract-sent money until then is known. */
  knownUntil: Date;
  /** The balance before the address was given out; null: unknown. */
  before: Units | null;
  /** When to check again; null: never. */
  nextAt: Date | null;
};

const updateBalanceChecks = statement(
  'addresses_balance_looked',
  `update addresses a set
     balance_height = u.height, balance_known_until = u.known_until,
     balance_before = u.before, balance_check_at = u.next_at
   from unnest($2::text[], $3::int[], $4::timestamptz[], $5::numeric[], $6::timestamptz[])
     as u(address, height, known_until, before, next_at)
   where a.chain = $1 and a.address = u.address`,
);

export async function saveBalanceChecks(
  trx: Trx,
  chain: Chain,
  looks: readonly BalanceCheck[],
): Promise<void> {
  if (looks.length === 0) return;
  await trx.rows(updateBalanceChecks, [
    chain,
    looks.map(({ address }) => address),
    looks.map(({ height }) => height),
    looks.map(({ knownUntil }) => knownUntil),
    looks.map(({ before }) => before),
    looks.map(({ nextAt }) => nextAt),
  ]);
}

const updateBalancesHeight = statement(
  'cursors_balances_height',
  `update cursors set balances_height = $2 where chain = $1`,
);

/** All due balances are checked at this height. */
export async function markBalancesChecked(trx: Trx, chain: Chain, height: number): Promise<void> {
  await trx.rows(updateBalancesHeight, [chain, height]);
}
