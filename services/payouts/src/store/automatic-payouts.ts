import type { AssetSymbol } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, AssertionId, PayoutId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import {
  afterPayout,
  type RuleError,
  type RuleState,
  type RunError,
  type Schedule,
} from '../domain/automatic.ts';

export type AutomaticPayout = {
  account: AccountId;
  asset: AssetSymbol;
  /** Canonical. */
  address: string;
  schedule: Schedule;
  /** The least amount that is paid, without the network fee. */
  threshold: Units | null;
  enabled: boolean;
  nextRunAt: Date;
  lastRunAt: Date | null;
  lastPayoutId: PayoutId | null;
  lastError: RuleError | null;
  /** How many of its payouts have failed since one was mined. */
  failures: number;
  /** The failure that the merchant was told of last; null after a run without a failure. */
  toldError: RunError | null;
  /** Of the request that has stored it; null of one of a former release. */
  assertionId: AssertionId | null;
  createdAt: Date;
  updatedAt: Date;
};

const columns = `account_id as account, automatic_payouts.asset, address, schedule, threshold, enabled, next_run_at,
  last_run_at, last_payout_id, last_error, failures, told_error, assertion_id, created_at, updated_at`;

const upsert = query<AutomaticPayout>(
  'automatic_payouts_put',
  `insert into automatic_payouts (account_id, asset, address, schedule, threshold, enabled, next_run_at, assertion_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (account_id, asset) do update set
     address = excluded.address, schedule = excluded.schedule, threshold = excluded.threshold,
     enabled = excluded.enabled, next_run_at = excluded.next_run_at, last_error = null, told_error = null, failures = 0,
     assertion_id = excluded.assertion_id,
     updated_at = now()
   returning ${columns}`,
);

export type NewAutomaticPayout = Pick<
  AutomaticPayout,
  'account' | 'asset' | 'address' | 'schedule' | 'threshold' | 'enabled' | 'nextRunAt' | 'assertionId'
>;

/** Stores the rule of an account for an asset, in place of the one before. */
export const putAutomaticPayout = (db: Queryable, rule: NewAutomaticPayout): Promise<AutomaticPayout> =>
  db.one(upsert, [
    rule.account,
    rule.asset,
    rule.address,
    rule.schedule,
    rule.threshold,
    rule.enabled,
    rule.nextRunAt,
    rule.assertionId,
  ]);

const selectAll = query<AutomaticPayout>(
  'automatic_payouts_of_account',
  `select ${columns} from automatic_payouts where account_id = $1 order by asset`,
);

export const automaticPayoutsOf = (db: Queryable, account: AccountId) => db.rows(selectAll, [account]);

const remove = statement(
  'automatic_payouts_delete',
  'delete from automatic_payouts where account_id = $1 and asset = $2 returning asset',
);

/** Deletes a rule. False when there is none. */
export const deleteAutomaticPayout = async (db: Queryable, account: AccountId, asset: string) =>
  (await db.rows(remove, [account, asset])).length > 0;

// The row lock and the next run are of one statement, so that two replicas never run a rule at once.
const claim = query<AutomaticPayout>(
  'automatic_payouts_claim',
  `with due as (
     select account_id, asset from automatic_payouts
     where enabled and next_run_at <= $1 order by next_run_at limit $3 for update skip locked)
   update automatic_payouts set next_run_at = $2, last_run_at = $1
   from due where automatic_payouts.account_id = due.account_id and automatic_payouts.asset = due.asset
   returning ${columns.replace('account_id as', 'automatic_payouts.account_id as')}`,
);

/** Takes rules that are due. Until `until` no other replica runs them. */
export const claimDue = (db: Queryable, now: Date, until: Date, limit: number) =>
  db.rows(claim, [now, until, limit]);

const lock = query<{ asset: string }>(
  'automatic_payouts_lock_claimed',
  `select asset from automatic_payouts
   where account_id = $1 and asset = $2 and next_run_at = $3 and address = $4 and enabled for share`,
);

/**
 * Whether a claimed rule is as it was claimed. It stays so until the end of the transaction: after a merchant's change no
 * payout of the former rule is stored.
 */
export const lockClaimed = async (
  trx: Trx,
  {
    account,
    asset,
    nextRunAt,
    address,
  }: Pick<AutomaticPayout, 'account' | 'asset' | 'nextRunAt' | 'address'>,
): Promise<boolean> => (await trx.maybe(lock, [account, asset, nextRunAt, address])) !== undefined;

const note = query<AutomaticPayout>(
  'automatic_payouts_note_run',
  `update automatic_payouts set next_run_at = $4, last_payout_id = coalesce($5, last_payout_id), last_error = $6, told_error = $7
   where account_id = $1 and asset = $2 and next_run_at = $3 and told_error is not distinct from $8
   returning ${columns}`,
);

type RunResult = Pick<AutomaticPayout, 'nextRunAt' | 'toldError'> & {
  payoutId: PayoutId | null;
  error: RunError | null;
};

type ClaimedRule = Pick<AutomaticPayout, 'account' | 'asset' | 'nextRunAt' | 'toldError'>;

/** Stores the result of a claimed run. Undefined when the rule was replaced since, or another run has told of a failure. */
export const noteRun = (
  db: Queryable,
  { account, asset, nextRunAt: claimedUntil, toldError: toldBefore }: ClaimedRule,
  { nextRunAt, payoutId, error, toldError }: RunResult,
): Promise<AutomaticPayout | undefined> =>
  db.maybe(note, [account, asset, claimedUntil, nextRunAt, payoutId, error, toldError, toldBefore]);

// A rule that was replaced after the payout was created is another rule.
const lockRuleOf = query<RuleState & { schedule: Schedule; now: Date }>(
  'automatic_payouts_lock_of_payout',
  `select schedule, enabled, failures, next_run_at, last_error, now() as now from automatic_payouts
   where account_id = $1 and asset = $2 and updated_at <= $3 for update`,
);

const followEnd = statement(
  'automatic_payouts_follow',
  `update automatic_payouts set
     enabled = $3, failures = $4, next_run_at = $5, last_error = $6, updated_at = case when enabled = $3 then updated_at else now() end
   where account_id = $1 and asset = $2`,
);

type EndedPayout = {
  account: AccountId;
  asset: AssetSymbol;
  createdAt: Date;
  status: 'mined' | 'failed';
  failedReason: string | null;
};

/** Changes the rule of an automatic payout that has ended, in the transaction that ends the payout. */
export async function followAutomaticPayout(trx: Trx, payout: EndedPayout): Promise<void> {
  const { account, asset, createdAt } = payout;
  const rule = await trx.maybe(lockRuleOf, [account, asset, createdAt]);
  if (rule === undefined) return;
  const { enabled, failures, nextRunAt, lastError } = afterPayout(rule, payout, rule.now);
  await trx.rows(followEnd, [account, asset, enabled, failures, nextRunAt, lastError]);
}
