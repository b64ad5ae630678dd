import { assetSymbols } from '@quittance/shared/assets';
import type { ReplyOf } from '@quittance/shared/commands';
import type { Ports } from '../ports.ts';
import { haltsInForce } from '../store/halts.ts';
import { passedChecks } from '../store/passed-checks.ts';

/** Since when each asset is known to be right, and whether it is halted: by the auditor or an operator, or in payouts still. */
export async function readReconciliation({ db }: Pick<Ports, 'db'>): Promise<ReplyOf<'reconciliation.read'>> {
  const passed = new Map((await passedChecks(db)).map(({ asset, beganAt }) => [asset, beganAt]));
  const halted = new Set((await haltsInForce(db)).map(({ asset }) => asset));
  return {
    assets: assetSymbols.map((asset) => ({
      asset,
      passed_at: passed.get(asset)?.toISOString() ?? null,
      is_halted: halted.has(asset),
    })),
  };
}
