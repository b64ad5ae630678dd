import { showAddress } from '@quittance/chains/registry';
import { assetSymbols, assets } from '@quittance/shared/assets';
import { formatUnits, type Units } from '@quittance/shared/money';
import { noPolicy, type PayoutPolicy, policyAt } from './domain/policy.ts';
import type { PayoutAddress } from './store/payout-addresses.ts';
import type { AccountPolicy } from './store/policies.ts';

function rulesView({ allowList, delayHours, limits }: PayoutPolicy) {
  return {
    allow_list: allowList,
    delay_hours: delayHours,
    limits: assetSymbols.flatMap((asset) => {
      const of = limits[asset];
      if (of === undefined) return [];
      const shown = (amount: Units | undefined | null) =>
        amount === undefined || amount === null ? null : formatUnits(amount, assets[asset].decimals);
      return [
        {
          asset,
          per_payout: shown(of.perPayout),
          per_24h: shown(of.perDay),
          approval_above: shown(of.approval?.above),
          approvals: of.approval?.needed ?? null,
        },
      ];
    }),
  };
}

/** The policy of an account at that time; undefined when it never had one. */
export function policyView(stored: AccountPolicy | undefined, now: Date) {
  const next = stored?.next && stored.next.at > now ? stored.next : null;
  return {
    type: 'payout_policy' as const,
    ...rulesView(stored === undefined ? noPolicy : policyAt(stored, now)),
    next: next && { ...rulesView(next.policy), takes_effect_at: next.at.toISOString() },
    updated_at: stored?.updatedAt.toISOString() ?? null,
  };
}

export const addressView = ({ id, chain, address, label, createdAt, usableAt }: PayoutAddress) => ({
  id,
  type: 'address' as const,
  chain,
  address: showAddress(chain, address),
  label,
  created_at: createdAt.toISOString(),
  usable_at: usableAt.toISOString(),
});
