import { type AssetSymbol, isAssetSymbol } from '@quittance/shared/assets';
import { type Queryable, query, type Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import {
  type AssetLimits,
  type DayTotals,
  type PayoutPolicy,
  policyText,
  type StoredPolicy,
} from '../domain/policy.ts';

/** As `policyText` writes it. */
type PolicyJson = Pick<PayoutPolicy, 'allowList' | 'delayHours'> & {
  limits: {
    asset: string;
    perPayout?: string;
    perDay?: string;
    approval: { above: string; needed: number } | null;
  }[];
};

type PolicyRow = { policy: PolicyJson; nextPolicy: PolicyJson | null; nextAt: Date | null; updatedAt: Date };

const columns = 'policy, next_policy, next_at, updated_at';

function readPolicy({ allowList, delayHours, limits }: PolicyJson): PayoutPolicy {
  const read = limits.map(({ asset, perPayout, perDay, approval }): [AssetSymbol, AssetLimits] => {
    invariant(isAssetSymbol(asset), `${asset} is an asset`);
    const own = {
      perPayout: perPayout === undefined ? null : units(perPayout),
      perDay: perDay === undefined ? null : units(perDay),
      approval: approval && { above: units(approval.above), needed: approval.needed },
    };
    return [asset, own];
  });
  return { allowList, delayHours, limits: Object.fromEntries(read) };
}

export type AccountPolicy = StoredPolicy & { updatedAt: Date };

const read = ({ policy, nextPolicy, nextAt, updatedAt }: PolicyRow): AccountPolicy => ({
  policy: readPolicy(policy),
  next: nextPolicy && nextAt && { policy: readPolicy(nextPolicy), at: nextAt },
  updatedAt,
});

const selectOne = query<PolicyRow>(
  'payout_policies_one',
  `select ${columns} from payout_policies where account_id = $1`,
);

/** The policy of an account; undefined when it never had one. */
export async function findPolicy(db: Queryable, account: AccountId): Promise<AccountPolicy | undefined> {
  const row = await db.maybe(selectOne, [account]);
  return row && read(row);
}

const lockOne = query<PolicyRow & { now: Date }>(
  'payout_policies_lock',
  `select ${columns}, clock_timestamp() as now from payout_policies where account_id = $1 for update`,
);

/**
 * The same, locked: payouts of the account are decided one after the other. `now` is the time of the database, which orders
 * the decisions of all replicas.
 */
export async function lockPolicy(
  trx: Trx,
  account: AccountId,
): Promise<(AccountPolicy & { now: Date }) | undefined> {
  const row = await trx.maybe(lockOne, [account]);
  return row && { ...read(row), now: row.now };
}

const insert = query<PolicyRow>(
  'payout_policies_insert',
  `insert into payout_policies (account_id, policy) values ($1, $2) on conflict do nothing returning ${columns}`,
);

/** The first policy of an account; undefined when it has one. */
export async function insertPolicy(
  trx: Trx,
  account: AccountId,
  policy: PayoutPolicy,
): Promise<AccountPolicy | undefined> {
  const row = await trx.maybe(insert, [account, policyText(policy)]);
  return row && read(row);
}

const update = query<PolicyRow>(
  'payout_policies_update',
  `update payout_policies set policy = $2, next_policy = $3, next_at = $4, updated_at = now()
   where account_id = $1 returning ${columns}`,
);

export async function updatePolicy(
  trx: Trx,
  account: AccountId,
  { policy, next }: StoredPolicy,
): Promise<AccountPolicy> {
  const texts = [policyText(policy), next && policyText(next.policy), next?.at];
  return read(await trx.one(update, [account, ...texts]));
}

// The first list of statuses is the one of the index of an account's payouts.
const sumDay = query<{ asset: AssetSymbol; amount: Units }>(
  'payouts_of_day',
  `select asset, sum(amount) as amount from payouts
   where account_id = $1 and asset = any($2) and created_at > now() - interval '24 hours'
     and status not in ('requested', 'refused', 'voided') and status <> 'failed'
   group by asset`,
);

/** What the payouts of the last 24 hours take that have not failed; nothing of an asset without any. */
export async function dayTotals(
  db: Queryable,
  account: AccountId,
  of: readonly AssetSymbol[],
): Promise<DayTotals> {
  return new Map((await db.rows(sumDay, [account, of])).map(({ asset, amount }) => [asset, amount]));
}
