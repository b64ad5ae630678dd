import { type AssetSymbol, assets, nativeAsset } from '@quittance/shared/assets';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease, renewLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { formatUnits, type Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import pMap from 'p-map';
import { amountOf } from '../../domain/liquidity.ts';
import { planRun, type Queued, type Shortage } from '../../domain/plan.ts';
import { movePayout, oldestReserved, type Payout } from '../../store/payouts.ts';
import { insertPayments } from '../../store/replacement-groups.ts';
import { insertSigned, type Transaction } from '../../store/transactions.ts';
import { failUnsigned, sendTransaction } from '../transactions.ts';
import type { AccountChainDriver, AccountChainPorts, ChainTerms, Transfer } from './driver.ts';
import { availableLiquidity, lookAhead, PAYOUTS_PER_ASSET, sweepCandidates } from './payment-sources.ts';
import { signSweeps } from './sweep.ts';

const CONCURRENT_TRIALS = 8;

/** `transfer`: set when the node has accepted a trial. */
type Candidate<Order> = Queued & { payout: Payout; transfer: Transfer<Order> | undefined };

/**
 * Pays the oldest payouts that the hot wallet can pay now, and sweeps deposits for the next ones.
 * @returns how many were signed or failed; 0 means that no payout can be paid now.
 */
export async function payReserved<Order>(
  ports: AccountChainPorts,
  lease: Lease,
  driver: AccountChainDriver<Order>,
): Promise<number> {
  const { db, kind: accountKind, chain, assets: payable } = ports;
  const oldest = await oldestReserved(db, payable, PAYOUTS_PER_ASSET);
  if (oldest.length === 0 || !(await driver.canSign())) return 0;

  const terms = await driver.terms();
  const assetsInUse = new Set([nativeAsset[chain], ...oldest.map(({ asset }) => asset)]);
  const liquidity = await availableLiquidity(ports, assetsInUse);
  const candidates = await sweepCandidates(ports, terms, assetsInUse);
  const sources = { liquidity, candidates, beyond: new Map<AssetSymbol, Units>() };
  const candidateOf = (payout: Payout, transfer?: Transfer<Order>): Candidate<Order> => {
    const { asset, amount } = payout;
    return { payout, asset, amount, transfer, gasCost: transfer?.fee ?? terms.transferFee(asset) };
  };
  const untried = (payout: Payout) => candidateOf(payout);
  const { queue: guessed, plan: first } = await lookAhead(ports, oldest, sources, untried);
  const trials = await tryTransfers(ports, terms, first.pay);
  const refused = [...trials].flatMap(([payout, trial]) => (trial === 'refused' ? [payout] : []));
  for (const payout of refused) await failUnsigned(ports, lease, payout);
  const queue = guessed.flatMap(({ payout }) => {
    const trial = trials.get(payout);
    return trial === 'refused' ? [] : [candidateOf(payout, trial)];
  });
  const plan = planRun(chain, queue, liquidity, candidates, sources.beyond);
  failpoint(`${accountKind}.planned`);
  for (const shortage of plan.short) reportShortage(ports, shortage);

  const native = nativeAsset[chain];
  const toPay = plan.pay.reduce(
    (sum, { asset, amount, gasCost }) => sum + gasCost + (asset === native ? amount : 0n),
    0n,
  );
  const minConfirmations = Math.max(...guessed.map(({ payout }) => payout.minConfirmations));
  const sweeps = plan.sweep.map(({ unswept, gasCost }) => ({ unswept, gasCost, minConfirmations }));
  const swept = await signSweeps(ports, lease, terms, sweeps, amountOf(liquidity.free, native) - toPay);
  return swept + refused.length + (await pay(ports, lease, terms, plan.pay));
}

/** Asks the node which recipients would refuse their transfers. */
async function tryTransfers<Order>(
  { throttledLog }: AccountChainPorts,
  terms: ChainTerms<Order>,
  candidates: readonly Candidate<Order>[],
): Promise<Map<Payout, Transfer<Order> | 'refused'>> {
  const trials = new Map<Payout, Transfer<Order> | 'refused'>();
  const attempt = async ({ payout }: Candidate<Order>) => {
    try {
      trials.set(payout, await terms.tryTransfer(payout));
    } catch (error) {
      // A failed trial is no refusal. The payout waits, and the others are paid.
      const details = { payout: payout.id, reason: reason(error) };
      throttledLog.log('warn', `trial.${payout.id}`, details, 'a transfer could not be tried, trying again');
    }
  };
  await pMap(candidates, attempt, { concurrency: CONCURRENT_TRIALS });
  return trials;
}

async function pay<Order>(
  ports: AccountChainPorts,
  lease: Lease,
  terms: ChainTerms<Order>,
  candidates: readonly Candidate<Order>[],
): Promise<number> {
  let signed = 0;
  for (const { payout, transfer } of candidates) {
    // It entered the plan after another payout was refused, or its trial failed: it is tried in the next round.
    if (transfer === undefined) continue;
    await renewLease(ports.db, lease);
    const transaction = await signPayout(ports, lease, terms, payout, transfer.order);
    if (transaction === undefined) continue;
    signed += 1;
    await sendTransaction(ports, transaction);
  }
  return signed;
}

/**
 * Signs a payout's first transaction and stores its bytes before they are sent. A lost lease, and a payout that is not
 * reserved any more, are refused inside the same database transaction.
 */
export async function signPayout<Order>(
  { db, kind: accountKind, chain }: AccountChainPorts,
  lease: Lease,
  terms: ChainTerms<Order>,
  { id, asset, amount, address, minConfirmations }: Payout,
  order: Order,
): Promise<Transaction | undefined> {
  const time = await terms.signingTime();
  const stored = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    if ((await movePayout(trx, id, ['reserved'], 'signed')) === undefined) return undefined;
    const made = await terms.sign(trx, order, time);
    invariant(made !== undefined, `payout ${id} is worth signing`);
    const first = { after: undefined, sweptAddress: null, chain, asset, minConfirmations };
    const transaction = await insertSigned(trx, { ...first, ...made, fence: lease.token });
    await insertPayments(trx, transaction.group, [{ payoutId: id, address, amount, outputIndex: null }]);
    failpoint(`${accountKind}.payouts.signing`);
    return transaction;
  });
  if (stored !== undefined) failpoint(`${accountKind}.payouts.signed`);
  return stored;
}

/** Payouts wait for money that not even all sweeps would bring. */
function reportShortage(
  { chain, sender, throttledLog }: AccountChainPorts,
  { asset, has, needs, payouts }: Shortage,
): void {
  const { decimals } = assets[asset];
  // On Solana the hot wallet has less than zero when its account must keep more than it has.
  const amounts = { has: formatUnits(has, decimals), needs: formatUnits(needs, decimals) };
  const details = { chain, address: sender.hotAddress, asset, ...amounts, payouts };
  const message = `payouts wait: the hot wallet has too little ${asset}`;
  throttledLog.log('error', `short.${asset}`, details, message);
}
