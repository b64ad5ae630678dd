import { type AssetSymbol, nativeAsset } from '@quittance/shared/assets';
import type { Lease } from '@quittance/shared/lease';
import { parseRate, type Rate } from '@quittance/shared/money';
import { amountOf } from '../../domain/purse.ts';
import { worthwhile } from '../../domain/worthwhile.ts';
import type { SolanaPorts } from '../../ports.ts';
import { reservedPayouts } from '../../store-payouts.ts';
import { keepLease } from '../keep-lease.ts';
import { sendTransaction } from '../send-transaction.ts';
import { lookForTreasures } from './look-for-treasures.ts';
import { lookIntoPurse } from './look-into-purse.ts';
import { signSweep } from './sign-sweep.ts';

const SWEEPS_PER_ROUND = 5;

/**
 * Brings deposits to the hot wallet before anybody needs them, when that costs next to nothing of what it brings: so
 * that payouts need not wait for it. While payouts wait, what they need is swept and nothing else.
 * @returns how many were signed.
 */
export async function sweepWorthwhile(ports: SolanaPorts, lease: Lease): Promise<number> {
  const { db, chain, sender, quotes, assets: payable } = ports;
  const native = nativeAsset[chain];
  const rates = ratesOf(ports);
  // Without the price of a fee nothing is known to be worth it.
  if (!rates.has(native)) return 0;
  const waiting = await reservedPayouts(db, new Map(payable.map((asset) => [asset, '0'])), 1);
  if (waiting.length > 0) return 0;

  const [unitPrice, rents] = [await sender.unitPrice(), await sender.rents()];
  const treasures = await lookForTreasures(ports, rates.keys(), unitPrice, rents.tokenAccount);
  if (treasures.length === 0) return 0;
  const offers = treasures.map((treasure) => ({ ...treasure, cost: treasure.fee }));
  let hotFree: bigint = amountOf((await lookIntoPurse(ports, new Set([native]))).free, native);
  const chosen = worthwhile(offers, native, rates, hotFree, SWEEPS_PER_ROUND);

  let signed = 0;
  for (const { holding } of chosen) {
    const minConfirmations = quotes.fresh(holding.asset)?.min_confirmations;
    if (minConfirmations === undefined) continue;
    await keepLease(ports, lease);
    const [lifetime, finalHeight] = [await sender.lifetime(), await sender.finalizedHeight()];
    const order = { holding, lifetime, unitPrice, rents, hotFree, minConfirmations, finalHeight };
    const sweep = await signSweep(ports, lease, order);
    if (sweep === undefined) continue;
    if (sweep.wallet === sender.hotAddress) hotFree -= sweep.maxCost;
    signed += 1;
    await sendTransaction(ports, sweep);
  }
  return signed;
}

/** Of what can be paid here, what the ledger has a fresh price of. */
function ratesOf({ assets: payable, quotes }: SolanaPorts): Map<AssetSymbol, Rate> {
  const rates = new Map<AssetSymbol, Rate>();
  for (const asset of payable) {
    const rate = parseRate(quotes.fresh(asset)?.usd_rate ?? '');
    if (rate.ok) rates.set(asset, rate.value);
  }
  return rates;
}
