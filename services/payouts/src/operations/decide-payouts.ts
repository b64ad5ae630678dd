import { assets } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { type DecidedPayout, decidePayouts, type PolicyDecision, policyAt } from '../domain/policy.ts';
import { entriesOf } from '../store/payout-addresses.ts';
import type { Payout } from '../store/payouts.ts';
import { dayTotals, lockPolicy } from '../store/policies.ts';

type Asking = Pick<Payout, 'asset' | 'amount' | 'address' | 'refundId' | 'returnsDeposit'>;

/**
 * What the policy of an account says of payouts, in their order; undefined when it has no policy. The policy stays locked until
 * the transaction ends, which must store the decisions: no two payouts are measured by the same sum.
 */
export async function decideByPolicy(
  trx: Trx,
  account: AccountId,
  payouts: readonly Asking[],
): Promise<PolicyDecision[] | undefined> {
  const stored = await lockPolicy(trx, account);
  if (stored === undefined) return undefined;
  const { now } = stored;
  const policy = policyAt(stored, now);
  const totals = await dayTotals(trx, account, [...new Set(payouts.map(({ asset }) => asset))]);
  const addresses = [...new Set(payouts.map(({ address }) => address))];
  const entries = policy.allowList ? await entriesOf(trx, account, addresses) : [];
  const entryOf = ({ asset, address }: Asking): DecidedPayout['entry'] => {
    const { chain } = assets[asset];
    const entry = entries.find((one) => one.chain === chain && one.address === address);
    if (entry === undefined) return 'missing';
    return entry.usableAt <= now ? 'usable' : 'delayed';
  };
  const asked = payouts.map((payout): DecidedPayout => {
    const { asset, amount, refundId, returnsDeposit } = payout;
    const isToCustomer = refundId !== null || returnsDeposit !== null;
    return { asset, amount, isToCustomer, entry: entryOf(payout) };
  });
  return decidePayouts(policy, asked, totals);
}
