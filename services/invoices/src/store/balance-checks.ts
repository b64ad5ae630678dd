import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';
import type { BalanceWatch, Movement } from '../domain/balance.ts';
import { type OurAddress, ownedColumns } from './addresses.ts';
import { notContradicted } from './contradictions.ts';

const selectBalancesHeight = query<{ balancesHeight: number | null }>(
  'cursors_select_balances_height',
  `select balances_height from cursors where chain = $1`,
);

/** The height at which all due balances were checked. */
export async function balancesCheckedAt(db: Queryable, chain: Chain): Promise<number | null> {
  return (await db.one(selectBalancesHeight, [chain])).balancesHeight;
}

/** An address whose balance is checked. */
export type WatchedAddress = OurAddress &
  BalanceWatch & {
    /** The asset of its invoice. */
    asset: AssetSymbol;
    /** The height at which its balance was last explained in full. */
    balanceHeight: number | null;
    /** Its balance before it was given out; null: not checked yet. */
    balanceBefore: Units | null;
  };

const watchedColumns = `${ownedColumns}, a.balance_height, a.balance_before, i.asset,
     coalesce(i.paid_at, i.closed_at) as done_at, case when i.expires_at is null then i.created_at end as unending_since`;

const selectBalancesDue = query<WatchedAddress>(
  'addresses_balance_due',
  `select ${watchedColumns}
   from addresses a join invoices i on i.id = a.invoice_id
   where a.chain = $1 and a.balance_check_at <= $2 and a.balance_height is distinct from $3
     and ${notContradicted}
   order by a.balance_check_at, a.address limit $4`,
);

/** The due addresses that were not checked at this height, the longest waiting first. */
export const balancesDue = (
  db: Queryable,
  chain: Chain,
  height: number,
  now: Date,
  limit: number,
): Promise<WatchedAddress[]> => db.rows(selectBalancesDue, [chain, now, height, limit]);

const selectBalancesBlockingExpiry = query<WatchedAddress>(
  'addresses_balance_blocking_expiry',
  `select ${watchedColumns}
   from invoices i join addresses a on a.chain = i.chain and a.address = i.address
   where i.closed_at is null and i.status in ('pending', 'partially_paid') and i.chain = $1
     and i.expires_at < $2 and a.balance_check_at is not null
     and (a.balance_known_until is null or a.balance_known_until <= i.expires_at)
     and ${notContradicted}
   order by i.expires_at, i.id limit $3`,
);

/** The addresses of expired invoices that must be checked before the invoices may close. */
export const balancesBlockingExpiry = (
  db: Queryable,
  chain: Chain,
  knownUntil: Date,
  limit: number,
): Promise<WatchedAddress[]> => db.rows(selectBalancesBlockingExpiry, [chain, knownUntil, limit]);

// Summed by block: anybody may send thousands of payments in one.
type AddressMovement = Movement & { address: string };

const selectMovements = query<AddressMovement>(
  'addresses_native_movements',
  `select address, block_height as height, sum(amount) as amount from (
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
): Promise<Map<string, AddressMovement[]>> {
  const movements = await db.rows(selectMovements, [
    chain,
    addresses.map(({ address }) => address),
    nativeAsset,
    addresses.map(({ invoiceId }) => invoiceId),
  ]);
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

const balanceChecks = bulk({
  address: 'text',
  height: 'int',
  knownUntil: 'timestamptz',
  before: 'numeric',
  nextAt: 'timestamptz',
});

const updateBalanceChecks = statement(
  'addresses_save_balance_checks',
  `update addresses a set
     balance_height = u.height, balance_known_until = u.known_until,
     balance_before = u.before, balance_check_at = u.next_at
   from ${balanceChecks.from('u')} where a.chain = $6 and a.address = u.address`,
);

export async function saveBalanceChecks(
  trx: Trx,
  chain: Chain,
  checks: readonly BalanceCheck[],
): Promise<void> {
  if (checks.length > 0) await trx.rows(updateBalanceChecks, [...balanceChecks.values(checks), chain]);
}

const updateBalancesHeight = statement(
  'cursors_balances_height',
  `update cursors set balances_height = $2 where chain = $1`,
);

/** All due balances are checked at this height. */
export async function markBalancesChecked(trx: Trx, chain: Chain, height: number): Promise<void> {
  await trx.rows(updateBalancesHeight, [chain, height]);
}
