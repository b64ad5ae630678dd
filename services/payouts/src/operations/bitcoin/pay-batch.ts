import { DUST, INPUT_VIRTUAL_BYTES, type Spend } from '@quittance/chains/bitcoin/spend';
import { failpoint } from '@quittance/shared/failpoint';
import { BITCOIN_FEE_MAX } from '@quittance/shared/fee-ceilings';
import { type Lease, renewLease } from '@quittance/shared/lease';
import { formatUnits, sum, type Units, units } from '@quittance/shared/money';
import {
  type AvailableUtxos,
  type BatchShortage,
  mostThatFit,
  needsMerging,
  paidByChange,
  planBatch,
} from '../../domain/bitcoin/plan.ts';
import type { BitcoinPorts } from '../../ports.ts';
import { oldestReserved, type Payout } from '../../store/payouts.ts';
import { hasPlan } from '../../store/signing-plans.ts';
import {
  incomingChange,
  nextChangeIndex,
  postponeUtxos,
  type StoredUtxo,
  spendableSum,
  spendableUtxos,
} from '../../store/utxos.ts';
import { cancelRequested } from '../cancel-requested.ts';
import { reportSigningPaused } from '../signing-pause.ts';
import { failUnsigned, sendTransaction } from '../transactions.ts';
import { missingUtxos } from './chain-utxos.ts';
import { signBatch } from './signing.ts';

const DECIMALS = 8;
/** The largest UTXOs. The time of signing grows with their number. */
const UTXOS_MAX = 200;
/** How many of the oldest payouts are planned together. */
const QUEUE_MAX = 500;
const TRIES_MAX = 20;
/** A UTXO that the chain does not have may return with the next block. */
const UTXO_AGAIN_AFTER_MS = 60_000;

/** The next transaction. Without payouts it merges UTXOs. */
type Next = { payouts: Payout[]; spend: Spend; changeIndex: number };

/**
 * Pays the oldest payouts that our UTXOs cover, with one transaction.
 * @returns how many are paid by it, cancelled or failed; 0 means that no payout can be paid now.
 */
export async function payBatch(ports: BitcoinPorts, lease: Lease): Promise<number> {
  const { db, chain, sender, assets: payable } = ports;
  // What is in a plan may be signed already: it is neither cancelled nor planned again.
  if (await hasPlan(db, chain)) return 0;
  const cancelled = await cancelRequested(ports, lease, async () => {
    const utxos = await usableUtxos(ports);
    // Transactions that this database does not know, as after it was restored from a backup. Ours have locked their UTXOs.
    return utxos !== undefined && !(await sender.spentInMempool(utxos.map(({ outpoint }) => outpoint)));
  });
  const oldest = await oldestReserved(db, payable, QUEUE_MAX);
  const queue = oldest.filter((payout) => canBePaid(ports, payout));
  const impossible = oldest.filter((payout) => !canBePaid(ports, payout));
  for (const payout of impossible) await failUnsigned(ports, lease, payout);
  const ended = cancelled + impossible.length;
  if (queue.length === 0) return ended;
  const utxos = await usableUtxos(ports);
  if (utxos === undefined) return ended;

  const finalHeightWhenSigned = await sender.finalizedHeight();
  const next = await chooseNext(ports, queue, utxos);
  failpoint('bitcoin.planned');
  if (next === undefined) return ended;
  await renewLease(ports.db, lease);
  const minConfirmations = Math.max(...queue.map((payout) => payout.minConfirmations));
  const transaction = await signBatch(ports, lease, { ...next, finalHeightWhenSigned, minConfirmations });
  if (transaction === undefined) return ended;
  await sendTransaction(ports, transaction);
  return ended + Math.max(next.payouts.length, 1);
}

/** A payout whose amount is covered and whose fee is not is skipped, like one that waits for money. */
async function chooseNext(
  ports: BitcoinPorts,
  queue: readonly Payout[],
  all: readonly StoredUtxo[],
): Promise<Next | undefined> {
  const { db, sender, clock } = ports;
  const feeRate = await sender.feeRate();
  // Spending a smaller UTXO costs more than its amount.
  const inputFee = units(INPUT_VIRTUAL_BYTES * feeRate);
  const utxos = all.filter(({ amount }) => amount > inputFee);
  const available = await availableOf(ports, utxos, inputFee);
  const changeIndex = await nextChangeIndex(db);
  let left = [...queue];
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const plan = planBatch(left, available, clock.now());
    if (plan.short !== undefined) reportBatchShortage(ports, plan.short);
    const isForMerging = needsMerging(plan, available);
    const chosen = mostThatFit(plan.pay.length, (count) =>
      select(ports, { payouts: plan.pay.slice(0, count), utxos, feeRate, changeIndex }),
    );
    if (chosen !== undefined) {
      return { payouts: plan.pay.slice(0, chosen.count), spend: chosen.fit, changeIndex };
    }
    const stuck = isForMerging ? plan.waiting[0] : plan.pay[0];
    if (stuck === undefined) break;
    const needs = units(stuck.amount + inputFee * BigInt(utxos.length));
    if (paidByChange(needs, available)) break;
    if (available.beyond > 0n) {
      const spend = merge(ports, { utxos, feeRate, changeIndex });
      if (spend !== undefined) return { payouts: [], spend, changeIndex };
    } else if (available.incoming > 0n) break;
    // At this fee neither the payout nor a merge is possible, so later payouts do not wait for it.
    reportBatchShortage(ports, { has: available.free, needs, payouts: 1 });
    left = left.filter((payout) => payout !== stuck);
  }
  return undefined;
}

async function availableOf(
  { db, chain }: BitcoinPorts,
  utxos: readonly StoredUtxo[],
  inputFee: Units,
): Promise<AvailableUtxos> {
  const free = sum(utxos.map(({ amount }) => amount));
  const incoming = await incomingChange(db, chain);
  const all = utxos.length < UTXOS_MAX ? free : await spendableSum(db, chain, inputFee);
  return { free, incoming, beyond: units(all > free ? all - free : 0n) };
}

/**
 * Nodes relay no dust. An address can be invalid when the network was configured otherwise at the time of the request.
 */
const canBePaid = ({ checkAddress }: BitcoinPorts, { address, amount }: Payout): boolean =>
  amount >= DUST && checkAddress(address) !== undefined;

/** The UTXOs that the chain has too; undefined when a transaction that is not ours has spent one. */
async function usableUtxos(ports: BitcoinPorts): Promise<StoredUtxo[] | undefined> {
  const { db, chain, clock, signingPause, throttledLog } = ports;
  const utxos = await spendableUtxos(db, chain, UTXOS_MAX);
  const { spent, absent } = await missingUtxos(ports, utxos);
  const [unknown] = spent;
  if (unknown !== undefined || signingPause.reason !== undefined) {
    signingPause.reason ??= `${unknown?.outpoint} was spent by a transaction that this database does not know`;
    reportSigningPaused(ports);
    return undefined;
  }
  if (absent.length > 0) {
    await postponeUtxos(db, absent, new Date(clock.now().getTime() + UTXO_AGAIN_AFTER_MS));
    const details = { chain, outpoints: absent.map(({ outpoint }) => outpoint).slice(0, 10) };
    const message = 'the chain does not have these UTXOs';
    throttledLog.log('error', `utxos.absent.${absent[0]?.outpoint}`, details, message);
  }
  return utxos.filter((utxo) => !absent.includes(utxo));
}

type Selection = { utxos: readonly StoredUtxo[]; feeRate: bigint; changeIndex: number };

/** A transaction that pays these payouts; undefined when there is none. */
function select(
  { sender, throttledLog }: BitcoinPorts,
  { payouts, utxos, feeRate, changeIndex }: Selection & { payouts: readonly Payout[] },
): Spend | undefined {
  const spend = sender.selectUtxos({
    available: utxos,
    recipients: payouts.map(({ address, amount }) => ({ to: address, amount })),
    changeIndex,
    feeRate,
    feeMax: BITCOIN_FEE_MAX,
  });
  if (typeof spend !== 'string') return spend;
  if (spend !== 'not_enough') {
    const details = { payouts: payouts.length, fee_rate: feeRate.toString() };
    const message = `a transaction for these payouts would be ${spend}`;
    throttledLog.log('warn', `selection.${spend}`, details, message);
  }
  return undefined;
}

/** A transaction that merges many UTXOs into one. */
function merge(
  { sender, throttledLog }: BitcoinPorts,
  { utxos, feeRate, changeIndex }: Selection,
): Spend | undefined {
  const order = {
    available: [],
    required: utxos,
    recipients: [],
    changeIndex,
    feeRate,
    feeMax: BITCOIN_FEE_MAX,
  };
  const spend = sender.selectUtxos(order);
  if (typeof spend !== 'string' && spend.change !== null) return spend;
  const details = { utxos: utxos.length, fee_rate: feeRate.toString() };
  throttledLog.log('warn', 'merge', details, 'many small UTXOs cannot be merged at this fee');
  return undefined;
}

function reportBatchShortage(
  { chain, sender, throttledLog }: BitcoinPorts,
  { has, needs, payouts }: BatchShortage,
): void {
  const amounts = { has: formatUnits(has, DECIMALS), needs: formatUnits(needs, DECIMALS) };
  const details = { chain, address: sender.hotAddress, asset: 'BTC', ...amounts, payouts };
  throttledLog.log('error', 'short.BTC', details, 'payouts wait: all our UTXOs together are too little BTC');
}
