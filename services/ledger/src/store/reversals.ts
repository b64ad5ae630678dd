import { bulk, query, statement, type Trx } from '@quittance/shared/db';
import type { DepositId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import type { LedgerDeposit } from '../domain/posting.ts';
import type { Suspense, SuspenseState } from '../domain/suspense.ts';
import { OtherContents } from './transfers.ts';

const reversals = bulk({
  id: 'deposit_id text',
  account: 'account_id text',
  asset: 'text',
  amount: 'numeric',
  outpoint: 'text',
});

const insertReversals = statement(
  'reversals_insert',
  `${reversals.insertInto('reversals')} on conflict (deposit_id) do nothing`,
);

const depositColumns = 'deposit_id as id, account_id as account, asset, amount';

const selectReversals = query<LedgerDeposit>(
  'reversals_select',
  `select ${depositColumns} from reversals where deposit_id = any($1::text[])`,
);

/** Stores deposits that the chain took back, to be booked when the deposits are. */
export async function rememberReversals(
  trx: Trx,
  deposits: readonly (LedgerDeposit & { outpoint: string })[],
): Promise<void> {
  await trx.rows(insertReversals, reversals.values(deposits));
  const rows = await trx.rows(selectReversals, [deposits.map(({ id }) => id)]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const { id, account, asset, amount } of deposits) {
    const row = byId.get(id);
    const same = row?.account === account && row.asset === asset && row.amount === amount;
    if (!same) throw new OtherContents(`the reversal of deposit ${id}`);
  }
}

const selectDue = query<LedgerDeposit>(
  'reversals_due',
  `select r.deposit_id as id, r.account_id as account, r.asset, r.amount
   from reversals r join transfers t on t.op = 'deposit:' || r.deposit_id
   where r.booked_at is null and (r.account_id, r.asset, r.amount) = (t.account_id, t.asset, t.amount)
   order by r.created_at, r.deposit_id limit $1`,
);

/**
 * Reversals that came before their deposits and can be booked now. One that names another account, asset or amount than
 * its deposit never can, and the auditor reports it. Locks nothing.
 */
export const dueReversals = (trx: Trx, limit: number): Promise<LedgerDeposit[]> =>
  trx.rows(selectDue, [limit]);

type UnbookedRow = LedgerDeposit & {
  state: SuspenseState | null;
  left: Units | null;
  outpoint: string | null;
  agrees: boolean;
};

// Read under the balances' locks, so that two replicas do not both book one.
const selectUnbooked = query<UnbookedRow>(
  'reversals_unbooked',
  `select r.deposit_id as id, t.account_id as account, t.asset, t.amount, u.state, u.amount as "left",
     coalesce(r.outpoint, d.outpoint) as outpoint,
     (r.account_id, r.asset, r.amount) = (t.account_id, t.asset, t.amount) as agrees
   from reversals r join transfers t on t.op = 'deposit:' || r.deposit_id
   left join unresolved u on u.deposit_id = r.deposit_id
   left join deposits d on d.deposit_id = r.deposit_id
   where r.deposit_id = any($1::text[]) and r.booked_at is null
   order by r.deposit_id for update of r`,
);

export type UnbookedReversal = {
  deposit: LedgerDeposit;
  /** Which payment it is; not known of old ones. */
  outpoint: string | null;
  /** What became of it, when it had gone to no balance. */
  unresolved: Suspense | null;
  /** The reversal names the account, asset and amount that the deposit was booked with. */
  agrees: boolean;
};

/** Of these deposits, those that are booked while their reversal is not. */
export async function unbookedReversals(trx: Trx, ids: readonly DepositId[]): Promise<UnbookedReversal[]> {
  const rows = await trx.rows(selectUnbooked, [ids]);
  return rows.map(({ state, left, outpoint, agrees, ...deposit }) => ({
    deposit,
    outpoint,
    unresolved: state === null || left === null ? null : { state, amount: left },
    agrees,
  }));
}

const markReversed = statement(
  'reversals_mark_booked',
  `update reversals set booked_at = now() where deposit_id = any($1::text[])`,
);

export async function markReversalsBooked(trx: Trx, ids: readonly DepositId[]): Promise<void> {
  await trx.rows(markReversed, [ids]);
}
