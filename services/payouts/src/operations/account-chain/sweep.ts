import { type AssetSymbol, assets, nativeAsset } from '@quittance/shared/assets';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease, renewLease } from '@quittance/shared/lease';
import { formatUnits, parseRate, type Rate, type Units } from '@quittance/shared/money';
import { amountOf, economicalSweeps } from '../../domain/liquidity.ts';
import { oldestReserved } from '../../store/payouts.ts';
import { insertSigned, type Transaction } from '../../store/transactions.ts';
import {
  assignSweep,
  lockDeposits,
  postponeDeposits,
  type UnsweptDeposits,
} from '../../store/unswept-deposits.ts';
import { sendTransaction } from '../transactions.ts';
import type { AccountChainDriver, AccountChainPorts, ChainTerms } from './driver.ts';
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

/** Thrown to roll back the database transaction that signs: a nonce that it took is not used then. */
class NotNow extends Error {}

/**
 * Signs and sends sweeps. The fees of token sweeps are reserved first; native sweeps share the rest of `hotFree`.
 * @returns how many were signed.
 */
export async function signSweeps<Order>(
  ports: AccountChainPorts,
  lease: Lease,
  terms: ChainTerms<Order>,
  planned: readonly PlannedSweep[],
  hotFree: bigint,
): Promise<number> {
  const { sender, chain } = ports;
  let left = planned.reduce((free, { gasCost }) => free - gasCost, hotFree);
  let signed = 0;
  for (const sweep of planned) {
    await renewLease(ports.db, lease);
    const transaction = await signSweep(ports, lease, terms, sweep, left);
    if (transaction === undefined) continue;
    const { asset, wallet, maxCost } = transaction;
    if (asset === nativeAsset[chain] && wallet === sender.hotAddress) left -= maxCost;
    signed += 1;
    await sendTransaction(ports, transaction);
  }
  return signed;
}

/** Signs a sweep of a deposit address and stores its bytes. Undefined when it cannot be swept now. */
async function signSweep<Order>(
  ports: AccountChainPorts,
  lease: Lease,
  terms: ChainTerms<Order>,
  { unswept, minConfirmations }: PlannedSweep,
  hotFree: bigint,
): Promise<Transaction | undefined> {
  const { db, kind: accountKind, chain, clock } = ports;
  const { asset, address, amount, depositIds } = unswept;
  const order = isOurs(ports, unswept) ? await terms.orderSweep(unswept, hotFree) : undefined;
  if (order === undefined) {
    await postponeDeposits(db, depositIds, new Date(clock.now().getTime() + AGAIN_AFTER_MS));
    return undefined;
  }
  const time = await terms.signingTime();
  try {
    const stored = await db.transaction(async (trx) => {
      await assertLease(trx, lease);
      // A deposit was reversed or swept since the plan was made.
      if ((await lockDeposits(trx, depositIds)) !== amount) throw new NotNow();
      const made = await terms.sign(trx, order, time);
      if (made === undefined) throw new NotNow();
      const first = { after: undefined, sweptAddress: address, chain, asset, minConfirmations };
      const transaction = await insertSigned(trx, { ...first, ...made, fence: lease.token });
      await assignSweep(trx, depositIds, transaction.group);
      failpoint(`${accountKind}.sweeps.signing`);
      return transaction;
    });
    failpoint(`${accountKind}.sweeps.signed`);
    return stored;
  } catch (error) {
    if (error instanceof NotNow) return undefined;
    throw error;
  }
}

/** Whether we have the key of the address. */
function isOurs(
  { sender, throttledLog }: AccountChainPorts,
  { address, derivationIndex }: UnsweptDeposits,
): boolean {
  const ours = sender.depositAddress(derivationIndex);
  if (ours === address) return true;
  const details = { address, index: derivationIndex, derived: ours };
  const message = 'a deposit address does not derive from the recovery phrase, it cannot be swept';
  throttledLog.log('error', 'sweep.foreign', details, message);
  return false;
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
