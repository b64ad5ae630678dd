import { type AssetSymbol, assets, nativeAsset } from '@quittance/shared/assets';
import { ORDERS_PER_REQUEST } from '@quittance/shared/commands';
import { failpoint } from '@quittance/shared/failpoint';
import { type Lease, renewLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { formatUnits, type Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import pMap from 'p-map';
import { amountOf } from '../../domain/liquidity.ts';
import { planRun, type Queued, type Shortage } from '../../domain/plan.ts';
import { oldestReserved, type Payout } from '../../store/payouts.ts';
import type { PlannedTransaction } from '../../store/signing-plans.ts';
import { signAndSend } from '../sign-planned.ts';
import { failUnsigned } from '../transactions.ts';
import type { AccountChainDriver, AccountChainPorts, ChainTerms, Nonces, Transfer } from './driver.ts';
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

/**
 * Has the first transactions of payouts signed, in one plan, and sends them. A lost lease, and a payout that is not reserved any
 * more, are refused before anything is signed.
 * @returns how many were sent.
 */
export async function pay<Order>(
  ports: AccountChainPorts,
  lease: Lease,
  terms: ChainTerms<Order>,
  candidates: readonly Pick<Candidate<Order>, 'payout' | 'transfer'>[],
): Promise<number> {
  const nonces: Nonces = new Map();
  const planned: PlannedTransaction<'evm' | 'solana'>[] = [];
  await renewLease(ports.db, lease);
  for (const { payout, transfer } of candidates.slice(0, ORDERS_PER_REQUEST)) {
    // It entered the plan after another payout was refused, or its trial failed: it is tried in the next round.
    if (transfer === undefined) continue;
    planned.push(await planPayout(terms, payout, transfer.order, nonces));
  }
  return await signAndSend(ports, lease, planned);
}

async function planPayout<Order>(
  terms: ChainTerms<Order>,
  { id, asset, amount, address, minConfirmations }: Payout,
  order: Order,
  nonces: Nonces,
): Promise<PlannedTransaction<'evm' | 'solana'>> {
  const first = await terms.complete(order, await terms.signingTime(), nonces);
  invariant(first !== undefined, `payout ${id} is worth signing`);
  const payments = [{ payoutId: id, address, amount, outputIndex: null }];
  return { ...first, asset, minConfirmations, after: null, payments, swept: null, changeIndex: null };
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
