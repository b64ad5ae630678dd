import { feesAt } from '@quittance/chains/solana/transaction';
import { assets, nativeAsset } from '@quittance/shared/assets';
import type { Lease } from '@quittance/shared/lease';
import { parseRate, type Rate, units } from '@quittance/shared/money';
import { amountOf } from '../../domain/purse.ts';
import { isWorthwhile } from '../../domain/solana/sweeping.ts';
import type { SolanaPorts } from '../../ports.ts';
import { type Holding, sweepableHoldings } from '../../store-holdings.ts';
import { keepLease } from '../keep-lease.ts';
import { sendTransaction } from '../send-transaction.ts';
import { lookIntoPurse } from './look-into-purse.ts';
import { signSweep } from './sign-sweep.ts';

const SWEEPS_PER_ROUND = 5;

/**
 * Sweeps deposits that nobody needs at the moment and that are worth it, the largest first: a payout that comes later
 * need not wait for them. Without fresh rates nobody knows what is worth it.
 * @returns how many were signed.
 */
export async function sweepWorthwhile(ports: SolanaPorts, lease: Lease): Promise<number> {
  const { db, chain, sender, quotes } = ports;
  const native = nativeAsset[chain];
  const nativeRate = rateOf(ports, native);
  if (nativeRate === undefined) return 0;
  const candidates: Holding[] = [];
  for (const asset of ports.assets) {
    candidates.push(...(await sweepableHoldings(db, chain, asset, SWEEPS_PER_ROUND)));
  }
  if (candidates.length === 0) return 0;

  const [unitPrice, rents] = [await sender.unitPrice(), await sender.rents()];
  const fees = feesAt(unitPrice).sweep;
  let hotFree: bigint = amountOf((await lookIntoPurse(ports, new Set([native]))).free, native);
  let signed = 0;
  for (const holding of candidates) {
    const { asset, amount } = holding;
    const isNative = assets[asset].type === 'native';
    const cost = units(isNative ? fees.native.hot : fees.token);
    // Opening its own account once is no cost of a single sweep, but must be there.
    const needed = isNative ? fees.native.hot : fees.token + rents.tokenAccount;
    const rate = rateOf(ports, asset);
    const quote = quotes.fresh(asset);
    if (signed === SWEEPS_PER_ROUND || rate === undefined || quote === undefined) continue;
    if (!isWorthwhile({ asset, amount, rate }, { asset: native, amount: cost, rate: nativeRate })) continue;
    if (!isNative && hotFree < needed) continue;
    await keepLease(ports, lease);
    const transaction = await signSweep(ports, lease, {
      holding,
      lifetime: await sender.lifetime(),
      unitPrice,
      rents,
      hotFree,
      minConfirmations: quote.min_confirmations,
      finalHeight: await sender.finalizedHeight(),
    });
    if (transaction === undefined) continue;
    hotFree -= needed;
    signed += 1;
    await sendTransaction(ports, transaction);
  }
  return signed;
}

function rateOf({ quotes }: SolanaPorts, asset: Holding['asset']): Rate | undefined {
  const rate = parseRate(quotes.fresh(asset)?.usd_rate ?? '');
  return rate.ok ? rate.value : undefined;
}
