import type { Spend } from '@quittance/chains/bitcoin/spend';
import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { type Lease, LeaseLost } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { units } from '@quittance/shared/money';
import { mostFor, nextFeeRate } from '../../domain/bitcoin/next-step.ts';
import type { BitcoinPorts } from '../../ports.ts';
import { isNewest, paymentsOf } from '../../store/replacement-groups.ts';
import { plannedAfter } from '../../store/signing-plans.ts';
import { newestOf, type ReplacementGroup, type Transaction } from '../../store/transactions.ts';
import { isChangeUsed, spendableUtxos } from '../../store/utxos.ts';
import { signPlanned } from '../sign-planned.ts';
import { sendTransaction } from '../transactions.ts';
import { missingUtxos } from './chain-utxos.ts';
import { areSpendable } from './signing.ts';
import { type BitcoinTerms, feeRateOf, readBitcoinTerms } from './terms.ts';

/** One more input is usually enough. */
const UTXOS_MAX = 50;
/** The next attempt may have one more input, and change where the last one had none. */
const MORE_VIRTUAL_BYTES = 110;

/**
 * Signs the next attempt of a group that waits too long, with a higher fee: the same payments from the same UTXOs, so
 * that at most one attempt can ever be mined. `waiting` is the attempt that the node has. After an error the next round
 * tries again.
 */
export async function bumpGroup(
  ports: BitcoinPorts,
  lease: Lease,
  group: ReplacementGroup,
  waiting: Transaction,
): Promise<void> {
  const { throttledLog } = ports;
  const newest = newestOf(group);
  try {
    const bumped = await signNext(ports, lease, newest, waiting);
    if (bumped !== undefined) await sendTransaction(ports, bumped);
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    const details = { transaction: newest.txHash, reason: reason(error) };
    throttledLog.log('warn', `bump.${newest.group}`, details, 'the fee of a transaction could not be raised');
  }
}

async function signNext(
  ports: BitcoinPorts,
  lease: Lease,
  newest: Transaction,
  waiting: Transaction,
): Promise<Transaction | undefined> {
  const { db, clock, sender, signingPause, throttledLog } = ports;
  // From the attempt that the node has accepted: what it refuses in a newer one, it would refuse in the next as well.
  const terms = readBitcoinTerms(waiting.terms);
  const stuck = { attempt: newest.attempt, sentAt: newest.firstBroadcastAt, feeRate: feeRateOf(terms) };
  // Before the node is asked: most of the time nothing has waited for long.
  if (signingPause.reason !== undefined || nextFeeRate(stuck, 0n, clock.now()) === undefined)
    return undefined;
  // Another group spends the change of this attempt, which a replacement would not have.
  if (await isChangeUsed(db, newest.group)) return undefined;
  const feeRate = nextFeeRate(stuck, await sender.feeRate(), clock.now());
  const virtualBytes = terms.virtualBytes + MORE_VIRTUAL_BYTES;
  // The least fee with which nodes accept a replacement; none when the attempt is not in the mempool any more.
  const least = await sender.replacementFee(waiting.txHash, virtualBytes);
  if (feeRate === undefined || least === undefined) return undefined;

  const payments = await paymentsOf(db, newest.group);
  const spend = sender.selectUtxos({
    available: await extraUtxos(ports),
    required: terms.utxos,
    recipients: payments.map(({ address, amount }) => ({ to: address, amount })),
    changeIndex: terms.changeIndex,
    feeRate,
    feeMin: least > terms.fee ? least : units(terms.fee + 1n),
    feeMax: mostFor(feeRate, virtualBytes),
  });
  if (typeof spend !== 'string') return sign(ports, lease, newest, { terms, spend });
  const details = { transaction: newest.txHash, fee_rate: feeRate.toString(), why: spend };
  throttledLog.log('warn', `bump.${newest.group}`, details, 'the fee of a transaction cannot be raised');
  return undefined;
}

async function extraUtxos(ports: BitcoinPorts) {
  const utxos = await spendableUtxos(ports.db, ports.chain, UTXOS_MAX);
  const { spent, absent } = await missingUtxos(ports, utxos);
  const missing = new Set([...spent, ...absent]);
  return utxos.filter((utxo) => !missing.has(utxo));
}

async function sign(
  ports: BitcoinPorts,
  lease: Lease,
  newest: Transaction,
  { terms, spend }: { terms: BitcoinTerms; spend: Spend },
): Promise<Transaction | undefined> {
  const { db, chain, sender, logger } = ports;
  const known = new Set(terms.utxos.map(({ outpoint }) => outpoint));
  const added = spend.utxos.filter(({ outpoint }) => !known.has(outpoint));
  const planned = plannedAfter<'bitcoin'>(newest, {
    order: { is: 'spend', hot: sender.hotAddress, ...spend },
    payments: await paymentsOf(db, newest.group),
    swept: null,
    changeIndex: terms.changeIndex,
  });
  const stillRight = async (trx: Trx) =>
    (await isNewest(trx, newest)) && (await areSpendable(trx, ports, added));
  const [stored] = await signPlanned(ports, lease, [planned], stillRight);
  if (stored === undefined) return undefined;
  failpoint('bitcoin.bumps.signed');
  const details = { chain, transaction: stored.txHash, before: newest.txHash, attempt: stored.attempt };
  logger.info({ ...details, fee: stored.maxCost.toString() }, 'the fee of a transaction was raised');
  return stored;
}
