import { type AssetSymbol, assets, nativeAsset } from '@quittance/shared/assets';
import { ORDERS_PER_REQUEST } from '@quittance/shared/commands';
import type { Trx } from '@quittance/shared/db';
import { type Lease, renewLease } from '@quittance/shared/lease';
import { formatUnits, parseRate, type Rate, type Units } from '@quittance/shared/money';
import { amountOf, economicalSweeps } from '../../domain/liquidity.ts';
import { oldestReserved } from '../../store/payouts.ts';
import type { PlannedTransaction } from '../../store/signing-plans.ts';
import { lockDeposits, postponeDeposits, type UnsweptDeposits } from '../../store/unswept-deposits.ts';
import { signAndSend } from '../sign-planned.ts';
import type { AccountChainDriver, AccountChainPorts, ChainTerms, Nonces } from './driver.ts';
import { availableLiquidity, sweepCandidates } from './payment-sources.ts';

const SWEEPS_PER_ROUND = 5;

/**
 * Sweeps deposits before a payout needs them, when the fee is a small part of the amount, so that payouts need not wait.
 * While payouts wait, only what they need is swept.
 * @returns how many were signed.
 */
export async function sweepEconomical<Order>(
  ports: AccountChainPorts,
  lease: Lease,
  driver: AccountChainDriver<Order>,
): Promise<number> {
  const { db, chain, quotes, assets: payable } = ports;
  const native = nativeAsset[chain];
  const rates = ratesOf(ports);
  // Without the price of the fee no sweep is known to be economical.
  if (!rates.has(native)) return 0;
  const waiting = await oldestReserved(db, payable, 1);
  if (waiting.length > 0) return 0;

  const terms = await driver.terms();
  const candidates = await sweepCandidates(ports, terms, rates.keys());
  if (candidates.length === 0 || !(await driver.canSign())) return 0;
  const free = amountOf((await availableLiquidity(ports, [native])).free, native);
  const chosen = economicalSweeps(candidates, native, rates, free, SWEEPS_PER_ROUND);
  const planned = chosen.flatMap(({ unswept, gasCost }) => {
    const minConfirmations = quotes.fresh(unswept.asset)?.min_confirmations;
    return minConfirmations === undefined ? [] : [{ unswept, gasCost, minConfirmations }];
  });
  return signSweeps(ports, lease, terms, planned, free);
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

/** A deposit that cannot be swept is skipped for this time, so that others are swept instead. */
const AGAIN_AFTER_MS = 10 * 60_000;

/** `gasCost`: the highest fee that the hot wallet pays for a token sweep. */
type PlannedSweep = { unswept: UnsweptDeposits; gasCost: Units; minConfirmations: number };

/**
 * Has sweeps signed, and sends them. The fees of token sweeps are reserved first; native sweeps share the rest of `hotFree`.
 * @returns how many were signed.
 */
export async function signSweeps<Order>(
  ports: AccountChainPorts,
  lease: Lease,
  terms: ChainTerms<Order>,
  sweeps: readonly PlannedSweep[],
  hotFree: bigint,
): Promise<number> {
  const { db, sender, chain } = ports;
  let left = sweeps.reduce((free, { gasCost }) => free - gasCost, hotFree);
  const nonces: Nonces = new Map();
  const planned: PlannedTransaction<'evm' | 'solana'>[] = [];
  const swept: UnsweptDeposits[] = [];
  for (const sweep of sweeps.slice(0, ORDERS_PER_REQUEST)) {
    await renewLease(db, lease);
    const one = await planSweep(ports, terms, sweep, left, nonces);
    if (one === undefined) continue;
    const { asset, wallet } = one;
    if (asset === nativeAsset[chain] && wallet === sender.hotAddress) left -= terms.sweepFee(asset).fee;
    planned.push(one);
    swept.push(sweep.unswept);
  }
  return await signAndSend(ports, lease, planned, (trx) => areUnswept(trx, swept));
}

/** Locks deposits. False when one of them was reversed or swept since it was read. */
async function areUnswept(trx: Trx, all: readonly UnsweptDeposits[]): Promise<boolean> {
  for (const { depositIds, amount } of all)
    if ((await lockDeposits(trx, depositIds)) !== amount) return false;
  return true;
}

/** A sweep of a deposit address, complete. Undefined when it cannot be swept now. */
async function planSweep<Order>(
  ports: AccountChainPorts,
  terms: ChainTerms<Order>,
  { unswept, minConfirmations }: PlannedSweep,
  hotFree: bigint,
  nonces: Nonces,
): Promise<PlannedTransaction<'evm' | 'solana'> | undefined> {
  const { asset, address, depositIds } = unswept;
  const order = await terms.orderSweep(unswept, hotFree);
  const first = order && (await terms.complete(order, await terms.signingTime(), nonces));
  if (first === undefined) {
    const again = new Date(ports.clock.now().getTime() + AGAIN_AFTER_MS);
    await postponeDeposits(ports.db, depositIds, again);
    return undefined;
  }
  const swept = { address, depositIds };
  return { ...first, asset, minConfirmations, after: null, payments: [], swept, changeIndex: null };
}

/** Logs that a deposit address has less than its settled deposits. */
export function reportMissing(
  { throttledLog }: AccountChainPorts,
  { asset, address, amount }: UnsweptDeposits,
  there: Units,
): void {
  const { decimals } = assets[asset];
  const [has, settled] = [formatUnits(there, decimals), formatUnits(amount, decimals)];
  const message = 'a deposit address has less than was deposited';
  throttledLog.log('error', `sweep.missing.${address}.${asset}`, { address, asset, has, settled }, message);
}
