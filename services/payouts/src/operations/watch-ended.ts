import type { ChainKind } from '@quittance/shared/assets';
import { reason } from '@quittance/shared/logger';
import { engines } from '../chain-workers.ts';
import { isNodeBehind } from '../domain/transaction-state.ts';
import type { ChainPorts } from '../ports.ts';
import { endedNotFinal, newestFinal, noteLooked, type Whereabouts } from '../store/ended-transactions.ts';
import { attemptsOf } from '../store/replacement-groups.ts';
import type { Transaction } from '../store/transaction-rows.ts';
import { noteSent } from '../store/transactions.ts';

const LOOK_EVERY_MS = 60_000;
const LOOKS_TOGETHER = 16;

/**
 * Keeps an eye on transactions that are deep enough: a chain that reorganises deeper than the asset's confirmations
 * takes a payment back. The same bytes bring it again, and an operator hears of it. A block that is final may be
 * dropped too. The newest final transaction shows that, and then the ones before it are looked at as well.
 */
export async function watchEnded<K extends ChainKind>(
  ports: ChainPorts<K>,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<void> {
  const { db, chain, notices, settings } = ports;
  try {
    await watchFinal(ports, lookEveryMs);
    const every = {
      presentMs: lookEveryMs,
      missingMs: Math.min(lookEveryMs, settings.patience.resendAfterMs),
    };
    const ended = await endedNotFinal(db, chain, every, LOOKS_TOGETHER);
    await Promise.all(
      ended.map(async (transaction) => noteLooked(db, transaction.id, await lookOrSay(ports, transaction))),
    );
  } catch (error) {
    const said = { chain, reason: reason(error) };
    notices.say('warn', `watch.${chain}`, said, 'settled transactions could not be watched');
  }
}

/** From the newest final transaction back to one that is where it was: what is below its block is there as well. */
async function watchFinal<K extends ChainKind>(ports: ChainPorts<K>, lookEveryMs: number): Promise<void> {
  const { db, chain } = ports;
  for (let looks = 0; looks < LOOKS_TOGETHER; looks++) {
    const newest = await newestFinal(db, chain, lookEveryMs);
    if (newest === undefined) return;
    const found = await lookOrSay(ports, newest);
    await noteLooked(db, newest.id, found);
    if (found.is === 'final') return;
  }
}

/** One that the node will not talk about stays as it was, and is looked at again in its turn, like any other. */
async function lookOrSay<K extends ChainKind>(
  ports: ChainPorts<K>,
  transaction: Transaction,
): Promise<Whereabouts> {
  try {
    return await look(ports, transaction);
  } catch (error) {
    const said = { transaction: transaction.txHash, reason: reason(error) };
    ports.notices.say('warn', `look.${transaction.id}`, said, 'the node does not tell of a transaction');
    return asItWas(transaction);
  }
}

function asItWas({ finalAt, missingSince }: Transaction): Whereabouts {
  if (missingSince !== null) return { is: 'missing' };
  return { is: finalAt === null ? 'not_final' : 'final' };
}

async function look<K extends ChainKind>(
  ports: ChainPorts<K>,
  transaction: Transaction,
): Promise<Whereabouts> {
  const { db, sender, chain, logger } = ports;
  const { id, family, txHash, state, finalAt, missingSince, blockHash, blockHeight } = transaction;
  // Asked first: what is final now was so, or was not, when the transaction is asked about.
  const finalized = await sender.finalizedHeight();
  const status = await sender.status(txHash);
  const said = { chain, transaction: txHash, family, state };
  if (status.state !== 'mined') {
    for (const other of await attemptsOf(db, family)) {
      if (other.id === id || (await sender.status(other.txHash)).state !== 'mined') continue;
      await engines[ports.kind].standsBy?.(db, other);
      logger.error({ ...said, other: other.txHash }, 'another attempt has taken the place of a settled one');
      return { is: 'not_final' };
    }
    if (finalAt !== null && (await engines[ports.kind].mayBeForgotten?.(ports, transaction)) === true)
      return { is: 'final' };
    if (isNodeBehind(finalized, transaction)) {
      throw new Error(`its block ${blockHeight} was final, and the node's last final one is ${finalized}`);
    }
    await sendAgain(ports, transaction);
    return { is: 'missing' };
  }
  await engines[ports.kind].standsBy?.(db, transaction);
  if (status.succeeded !== (state === 'mined')) {
    logger.error(said, 'a settled transaction ended the other way after a reorganisation');
  }
  if (missingSince !== null) logger.info(said, 'a settled transaction is in the chain again');
  // Its block was dropped and another one has it: the blocks before it may be others too.
  const isWhereItWas = finalAt === null || status.blockHash === blockHash;
  return { is: status.height <= finalized && isWhereItWas ? 'final' : 'not_final', block: status };
}

async function sendAgain<K extends ChainKind>(
  { db, chain, sender, clock, logger }: ChainPorts<K>,
  { id, family, txHash, raw, state, wallet, nonce, missingSince }: Transaction,
): Promise<void> {
  const answer = await sender.broadcast(raw);
  await noteSent(db, id, clock.now());
  const said = { chain, transaction: txHash, family, state, wallet, nonce, answer };
  const trouble = 'a settled transaction has left the chain, sending it again';
  // It is told of when it begins and when it ends. Meanwhile a metric counts it.
  if (missingSince === null) logger.error(said, trouble);
  else logger.debug(said, trouble);
}
