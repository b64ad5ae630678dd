import type { EvmFees } from '@quittance/chains/chain';
import { assets, assetsOf, nativeAsset } from '@quittance/shared/assets';
import { failpoint } from '@quittance/shared/failpoint';
import { type Lease, renewLease } from '@quittance/shared/lease';
import { invariant } from '@quittance/shared/result';
import { bumpedFees } from '../../domain/evm/next-step.ts';
import { amountOf } from '../../domain/liquidity.ts';
import type { EvmPorts } from '../../ports.ts';
import { isNewest, paymentsOf, stuckGroups } from '../../store/replacement-groups.ts';
import { plannedAfter } from '../../store/signing-plans.ts';
import { newestOf, type ReplacementGroup, type Transaction } from '../../store/transactions.ts';
import { depositsOfSweep } from '../../store/unswept-deposits.ts';
import { signPlanned } from '../sign-planned.ts';
import { sendTransaction } from '../transactions.ts';
import { completeOrder, readEvmTerms } from './evm-driver.ts';
import { availableLiquidity } from './payment-sources.ts';

const AT_ONCE = 50;

/**
 * Replaces transactions that no block includes for long by attempts with a higher fee. Each has the same nonce, recipient
 * and amount, so at most one of them can be mined. A native sweep pays the higher fee from its own amount.
 * @returns how many were signed.
 */
export async function bumpStuck(ports: EvmPorts, lease: Lease): Promise<number> {
  const { db, chain, sender, clock, settings, throttledLog, assets: payable } = ports;
  const sentBefore = new Date(clock.now().getTime() - settings.gracePeriods.stuckAfterMs);
  await reportBlocking(ports, sentBefore);
  // A higher fee is a new signature, and nothing is signed for a halted asset.
  const stuck = await stuckGroups(db, { chain, assets: payable, sentBefore }, AT_ONCE);
  if (stuck.length === 0) return 0;
  const usual = await sender.fees();
  const native = nativeAsset[chain];
  let free: bigint = amountOf((await availableLiquidity(ports, [native])).free, native);
  let bumped = 0;
  for (const group of stuck) {
    await renewLease(ports.db, lease);
    const next = await nextFees(ports, group, usual);
    if (next === undefined) continue;
    if (next.extra > free) {
      const details = { chain, address: sender.hotAddress, transaction: newestOf(group).txHash };
      const message = 'a transaction is stuck and its fee cannot be raised: the hot wallet has too little';
      throttledLog.log('error', `bump.${chain}`, details, message);
      continue;
    }
    const successor = await signSuccessor(ports, lease, group, next.fees);
    if (successor === undefined) continue;
    free -= next.extra;
    bumped += 1;
    await sendTransaction(ports, successor);
  }
  return bumped;
}

/**
 * The fees of the next attempt, and how much more the hot wallet may have to pay for it. Undefined when the chain may
 * have used its nonce, when it only waits for earlier ones, and beyond the limits.
 */
async function nextFees(
  { sender, throttledLog }: EvmPorts,
  group: ReplacementGroup,
  usual: EvmFees,
): Promise<{ fees: EvmFees; extra: bigint } | undefined> {
  const { wallet, nonce, txHash, attempt, terms } = newestOf(group);
  const [first, newest] = [readEvmTerms(group[0].terms), readEvmTerms(terms)];
  const next = await sender.nonce(wallet, 'latest');
  if (nonce === null || nonce < next || first === undefined || newest === undefined) return undefined;
  const isNext = nonce === next;
  const fees = bumpedFees({ first: first.fees, newest: newest.fees, attempts: attempt, isNext }, usual);
  if (fees === undefined && isNext) {
    const details = { transaction: txHash, wallet, nonce, attempts: attempt };
    const message = 'a transaction is stuck and its fee is not raised any more';
    throttledLog.log('error', `stuck.${wallet}`, details, message);
  }
  if (fees === undefined) return undefined;
  const more = newest.gas * (fees.maxFeePerGas - newest.fees.maxFeePerGas);
  return { fees, extra: wallet === sender.hotAddress ? more : 0n };
}

/** Has the next attempt signed and stored. Undefined when the group has ended or has a newer attempt by now. */
async function signSuccessor(
  ports: EvmPorts,
  lease: Lease,
  group: ReplacementGroup,
  fees: EvmFees,
): Promise<Transaction | undefined> {
  const { chain, logger } = ports;
  const newest = newestOf(group);
  const made = await complete(ports, newest, fees);
  if (made === undefined) return undefined;
  const planned = plannedAfter(newest, made);
  const [stored] = await signPlanned(ports, lease, [planned], (trx) => isNewest(trx, newest));
  if (stored === undefined) return undefined;
  failpoint('evm.bumps.signed');
  const details = { chain, transaction: stored.txHash, instead_of: newest.txHash, attempt: stored.attempt };
  logger.warn(details, 'a transaction is stuck, its fee is raised');
  return stored;
}

async function complete(
  ports: EvmPorts,
  { group, purpose, asset, nonce, terms }: Transaction,
  fees: EvmFees,
) {
  const before = readEvmTerms(terms);
  invariant(before !== undefined && nonce !== null, 'a transaction that is replaced has terms and a nonce');
  const raised = { ...before, fees };
  if (purpose === 'payout') {
    const [payment] = await paymentsOf(ports.db, group);
    const made = payment && completeOrder(ports, { transfer: { ...payment, asset }, terms: raised }, nonce);
    return payment && made && { ...made, payments: [payment], swept: null };
  }
  const sweep = await depositsOfSweep(ports.db, group);
  const domain = assets[asset].type === 'token' ? await ports.sender.tokenDomain(asset) : undefined;
  const made = sweep && completeOrder(ports, { sweep, domain, terms: raised }, nonce);
  return sweep && made && { ...made, payments: [], swept: sweep };
}

/** Nonces are mined in order: a stuck transaction of the hot wallet stops all later ones, of any asset. */
async function reportBlocking(ports: EvmPorts, sentBefore: Date): Promise<void> {
  const { db, chain, sender, throttledLog } = ports;
  const halted = assetsOf(chain).filter((asset) => !ports.assets.includes(asset));
  if (halted.length === 0) return;
  const wallet = sender.hotAddress;
  const [group] = await stuckGroups(db, { chain, assets: halted, sentBefore, wallet }, 1);
  if (group === undefined) return;
  const { asset, txHash, nonce } = newestOf(group);
  const details = { chain, asset, transaction: txHash, nonce };
  const message =
    'a transaction of a halted asset is stuck: nothing later of the hot wallet is mined before it or before its asset is resumed';
  throttledLog.log('error', `blocked.${chain}`, details, message);
}
