import { failpoint } from '@quittance/shared/failpoint';
import { type AccountId, newPayoutAddressId } from '@quittance/shared/ids';
import { invariant } from '@quittance/shared/result';
import { afterDelay, changePolicy, noPolicy, type PayoutPolicy, policyAt } from '../domain/policy.ts';
import type { Ports } from '../ports.ts';
import { type PayoutAddress, putAddress } from '../store/payout-addresses.ts';
import { type AccountPolicy, insertPolicy, lockPolicy, updatePolicy } from '../store/policies.ts';

type ChangePorts = Pick<Ports, 'db' | 'logger'>;

/** Replaces the policy of an account: what it forbids is forbidden at once, what it allows is allowed after the delay. */
export async function replacePolicy(
  { db, logger }: ChangePorts,
  account: AccountId,
  wanted: PayoutPolicy,
  by: string | undefined,
): Promise<AccountPolicy> {
  const stored = await db.transaction(async (trx) => {
    const first = await insertPolicy(trx, account, wanted);
    if (first !== undefined) return first;
    const locked = await lockPolicy(trx, account);
    invariant(locked !== undefined, 'a policy is never deleted');
    return await updatePolicy(trx, account, changePolicy(locked, wanted, locked.now));
  });
  failpoint('payouts.policy_changed');
  const details = { account, actor: by, takes_effect_at: stored.next?.at.toISOString() ?? 'now' };
  logger.info(details, 'the payout policy of an account was changed');
  return stored;
}

type GivenAddress = Pick<PayoutAddress, 'chain' | 'address' | 'label'>;

/** Adds an address, which an allow-list lets through after the delay of the policy. Undefined when the address book is full. */
export async function addAddress(
  { db, clock, logger }: ChangePorts & Pick<Ports, 'clock'>,
  account: AccountId,
  given: GivenAddress,
  by: string | undefined,
): Promise<(PayoutAddress & { isNew: boolean }) | undefined> {
  const stored = await db.transaction(async (trx) => {
    const policy = await lockPolicy(trx, account);
    const now = policy?.now ?? clock.now();
    const usableAt = afterDelay(policy === undefined ? noPolicy : policyAt(policy, now), now);
    return await putAddress(trx, { ...given, id: newPayoutAddressId(now), account, usableAt });
  });
  if (stored?.isNew === true)
    logger.info({ account, actor: by, address: stored.id }, 'an address was added to an address book');
  return stored;
}
