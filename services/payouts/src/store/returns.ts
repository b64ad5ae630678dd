import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';
import { units } from '@quittance/shared/money';
import { findUnresolved, type UnresolvedDeposit } from './unswept-deposits.ts';

const lock = statement(
  'returned_deposits_lock',
  `insert into returned_deposits (deposit_id) values ($1) on conflict (deposit_id) do update set locked_at = now()`,
);

/** Thrown, so that nothing is stored: other returns have taken so much of the deposit that only `left` is left. */
export class DepositTaken extends Error {
  override name = 'DepositTaken';
  readonly left: Units;
  constructor(depositId: string, left: Units) {
    super(`${left} is left to return of deposit ${depositId}`);
    this.left = left;
  }
}

/** What claim links that wait for their payers shall return. They hold nothing: a payout to an address may come first. */
const sumPromised = query<{ amount: Units }>(
  'returns_promised',
  `select coalesce(sum(share), 0) as amount from refunds
   where deposit_id = $1 and state = 'claimable' and expires_at > now()`,
);

/** What is left of a deposit for another claim link. */
export async function freeForLink(
  db: Queryable,
  depositId: string,
  { left }: Pick<UnresolvedDeposit, 'left'>,
): Promise<Units> {
  const { amount } = await db.one(sumPromised, [depositId]);
  return units(left > amount ? left - amount : 0n);
}

/**
 * Takes `total` of a deposit: for a payout, or for a claim link. Holds a lock until the end of the transaction, so that one
 * return is decided after the other. Throws DepositTaken when less is left.
 */
export async function takeOfDeposit(
  trx: Trx,
  depositId: string,
  total: bigint,
  by: 'payout' | 'link',
): Promise<void> {
  await trx.rows(lock, [depositId]);
  // Read after the lock, so that every return that was stored before is in the sums.
  const deposit = await findUnresolved(trx, depositId);
  const found = deposit ?? { left: units(0n) };
  const left = by === 'payout' ? found.left : await freeForLink(trx, depositId, found);
  if (total > left) throw new DepositTaken(depositId, left);
}
