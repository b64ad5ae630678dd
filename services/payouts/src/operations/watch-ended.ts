import { reason } from '@quittance/shared/logger';
import { engines } from '../engines.ts';
import type { ChainPorts } from '../ports.ts';
import { attemptsOf, endedNotFinal, noteLooked, type Transaction } from '../store-transactions.ts';

const LOOK_EVERY_MS = 60_000;
const LOOKS_TOGETHER = 16;

type WatchPorts = Pick<ChainPorts, 'db' | 'kind' | 'chain' | 'sender' | 'logger' | 'notices'>;

/**
 * Keeps an eye on transactions that are deep enough but not final: a chain that reorganises deeper than the
 * asset's confirmations takes a payment back. The same bytes bring it again, and an operator hears of it.
 */
export async function watchEnded(ports: WatchPorts, lookEveryMs = LOOK_EVERY_MS): Promise<void> {
  const { db, chain, notices } = ports;
  try {
    const ended = await endedNotFinal(db, chain, lookEveryMs, LOOKS_TOGETHER);
    await Promise.all(
      ended.map(async (transaction) => noteLooked(db, transaction.id, await look(ports, transaction))),
    );
  } catch (error) {
    const said = { chain, reason: reason(error) };
    notices.say('warn', `watch.${chain}`, said, 'settled transactions could not be watched');
  }
}

/** Whether it is final. One that the node will not talk about is looked at again in its turn, like any other. */
async function look(ports: WatchPorts, transaction: Transaction): Promise<boolean> {
  try {
    return await isFinal(ports, transaction);
  } catch (error) {
    const said = { transaction: transaction.txHash, reason: reason(error) };
    ports.notices.say('warn', `look.${transaction.id}`, said, 'the node does not tell of a transaction');
    return false;
  }
}

async function isFinal(
  { db, kind, sender, chain, logger }: WatchPorts,
  transaction: Transaction,
): Promise<boolean> {
  const { id, family, txHash, raw, state } = transaction;
  // Asked first: what is final now was so, or was not, when the transaction is asked about.
  const finalized = await sender.finalizedHeight();
  const status = await sender.status(txHash);
  const said = { chain, transaction: txHash, family, state };
  if (status.state !== 'mined') {
    for (const other of await attemptsOf(db, family)) {
      if (other.id === id || (await sender.status(other.txHash)).state !== 'mined') continue;
      await engines[kind].standsBy?.(db, other);
      logger.error({ ...said, other: other.txHash }, 'another attempt has taken the place of a settled one');
      return false;
    }
    const answer = await sender.broadcast(raw);
    logger.error({ ...said, answer }, 'a settled transaction has left the chain, sending it again');
    return false;
  }
  await engines[kind].standsBy?.(db, transaction);
  if (status.succeeded !== (state === 'mined')) {
    logger.error(said, 'a settled transaction ended the other way after a reorganisation');
  }
  return status.height <= finalized;
}
