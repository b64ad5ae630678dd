import { type AssetSymbol, nativeAsset } from '@quittance/shared/assets';
import type { Lease } from '@quittance/shared/lease';
import { parseRate, type Rate } from '@quittance/shared/money';
import { economicalSweeps } from '../../domain/economical-sweeps.ts';
import { amountOf } from '../../domain/plan.ts';
import { reservedPayouts } from '../../store/payouts.ts';
import { availableLiquidity } from './available-liquidity.ts';
import type { AccountChainDriver, AccountChainPorts } from './driver.ts';
import { signSweeps } from './sign-sweep.ts';
import { sweepCandidates } from './sweep-candidates.ts';

const SWEEPS_PER_ROUND = 5;

/**
 * Sweeps deposits before a payout needs them, when the fee is a small part of the amount, so that payouts need not wait.
 * While payouts wait, only what they need is swept.
 * @returns how many were signed.
 */
export async function sweepEconomical(
  ports: AccountChainPorts,
  lease: Lease,
  driver: AccountChainDriver,
): Promise<number> {
  const { db, chain, quotes, assets: payable } = ports;
  const native = nativeAsset[chain];
  const rates = ratesOf(ports);
  // Without the price of the fee no sweep is known to be economical.
  if (!rates.has(native)) return 0;
  const waiting = await reservedPayouts(db, new Map(payable.map((asset) => [asset, '0'])), 1);
  if (waiting.length > 0) return 0;

  const terms = await driver.terms();
  const candidates = await sweepCandidates(ports, terms, rates.keys());
  if (candidates.length === 0 || !(await driver.canSign())) return 0;
  const free = amountOf((await availableLiquidity(ports, driver, [native])).free, native);
  const offers = candidates.map((candidate) => ({ ...candidate, cost: candidate.fee }));
  const chosen = economicalSweeps(offers, native, rates, free, SWEEPS_PER_ROUND).flatMap(
    ({ unswept, gasCost }) => {
      const minConfirmations = quotes.fresh(unswept.asset)?.min_confirmations;
      return minConfirmations === undefined ? [] : [{ unswept, gasCost, minConfirmations }];
    },
  );
  return signSweeps(ports, lease, terms, chosen, free);
}

/** The fresh prices of the assets that can be paid here. */
function ratesOf({ assets: payable, quotes }: AccountChainPorts): Map<AssetSymbol, Rate> {
  const rates = new Map<AssetSymbol, Rate>();
  for (const asset of payable) {
    const rate = parseRate(quotes.fresh(asset)?.usd_rate ?? '');
    if (rate.ok) rates.set(asset, rate.value);
  }
  return rates;
}
