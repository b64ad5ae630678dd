import { TOKEN_SWEEP_GAS } from '@quittance/chains/evm/sender';
import { type AssetSymbol, assets, nativeAsset } from '@quittance/shared/assets';
import type { Lease } from '@quittance/shared/lease';
import { parseRate, type Rate, units } from '@quittance/shared/money';
import { amountOf } from '../../domain/purse.ts';
import { worthwhile } from '../../domain/worthwhile.ts';
import type { EvmPorts } from '../../ports.ts';
import { reservedPayouts } from '../../store-payouts.ts';
import { keepLease } from '../keep-lease.ts';
import { sendTransaction } from '../send-transaction.ts';
import { lookForTreasures } from './look-for-treasures.ts';
import { lookIntoPurse } from './look-into-purse.ts';
import { openWallet } from './open-wallet.ts';
import { NATIVE_SWEEP_GAS, signSweep } from './sign-sweep.ts';

const SWEEPS_PER_ROUND = 5;

/**
 * Brings deposits to the hot wallet before anybody needs them, when that costs next to nothing of what it brings: so
 * that payouts need not wait for it. While payouts wait, what they need is swept and nothing else.
 * @returns how many were signed.
 */
export async function sweepWorthwhile(ports: EvmPorts, lease: Lease): Promise<number> {
  const { db, chain, sender, quotes, assets: payable } = ports;
  const native = nativeAsset[chain];
  const rates = ratesOf(ports);
  // Without the price of gas nothing is known to be worth it.
  if (!rates.has(native)) return 0;
  const waiting = await reservedPayouts(db, new Map(payable.map((asset) => [asset, '0'])), 1);
  if (waiting.length > 0) return 0;

  const fees = await sender.fees();
  const offers = (await lookForTreasures(ports, rates.keys(), fees)).map((treasure) => ({
    ...treasure,
    cost: units(gasOf(treasure.asset) * fees.maxFeePerGas),
  }));
  if (offers.length === 0 || !(await openWallet(ports, lease, sender.hotAddress))) return 0;
  const free = amountOf((await lookIntoPurse(ports, new Set([native]))).free, native);
  const chosen = worthwhile(offers, native, rates, free, SWEEPS_PER_ROUND);

  const finalHeight = await sender.finalizedHeight();
  let signed = 0;
  for (const { holding } of chosen) {
    const minConfirmations = quotes.fresh(holding.asset)?.min_confirmations;
    if (minConfirmations === undefined) continue;
    await keepLease(ports, lease);
    const sweep = await signSweep(ports, lease, { holding, fees, minConfirmations, finalHeight });
    if (sweep === undefined) continue;
    signed += 1;
    await sendTransaction(ports, sweep);
  }
  return signed;
}

const gasOf = (asset: AssetSymbol): bigint =>
  assets[asset].type === 'native' ? NATIVE_SWEEP_GAS : TOKEN_SWEEP_GAS;

/** Of what can be paid here, what the ledger has a fresh price of. */
function ratesOf({ assets: payable, quotes }: EvmPorts): Map<AssetSymbol, Rate> {
  const rates = new Map<AssetSymbol, Rate>();
  for (const asset of payable) {
    const rate = parseRate(quotes.fresh(asset)?.usd_rate ?? '');
    if (rate.ok) rates.set(asset, rate.value);
  }
  return rates;
}
