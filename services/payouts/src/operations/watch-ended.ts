import type { ChainKind } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import { reason } from '@quittance/shared/logger';
import { isNodeBehind } from '../domain/states.ts';
import type { ChainPorts } from '../ports.ts';
import { attemptsOf } from '../store/replacement-groups.ts';
import {
  endedNotFinal,
  newestFinal,
  noteLooked,
  noteSent,
  type Transaction,
  type Whereabouts,
} from '../store/transactions.ts';
import { settleMined } from './bitcoin/follow-groups.ts';
import { reportSilence } from './report-silence.ts';

/** What differs between the kinds of chains after a transaction has ended. */
type EndedRules<K extends ChainKind> = {
  /**
   * Updates the tables of this kind to the attempt of an ended group that a block includes. After a reorganisation it may
   * be another attempt than the one that ended the group. Called repeatedly.
   */
  alignWithMined?(db: Db, mined: Transaction): Promise<void>;
  /**
   * Whether a final transaction that the node does not know may be in the chain, because nodes of this kind prune old
   * ones.
   */
  mayBePruned?(ports: ChainPorts<K>, transaction: Transaction): Promise<boolean>;
};

const endedRules: { readonly [K in ChainKind]: EndedRules<K> } = {
  bitcoin: {
    alignWithMined: (db, mined) => db.transaction((trx) => settleMined(trx, mined)),
  },
  evm: {
    // Nodes prune receipts. Then the chain has still used the nonce.
    mayBePruned: async ({ sender }, { wallet, nonce }) =>
      nonce !== null && (await sender.nonce(wallet, 'latest')) > nonce,
  },
  solana: {
    // Nodes keep signatures for a few days.
    mayBePruned: async () => true,
  },
};

const LOOK_EVERY_MS = 60_000;
const LOOKS_TOGETHER = 16;

/**
 * Watches ended transactions: a reorganisation deeper than the asset's confirmations drops a payment. The same bytes are
 * sent again and an error is logged. A final block may be dropped too. The newest final transaction shows that, and then
 * the earlier ones are checked as well.
 */
export async function watchEnded<K extends ChainKind>(
  ports: ChainPorts<K>,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<void> {
  const { db, chain, throttledLog, settings } = ports;
  try {
    await watchFinal(ports, lookEveryMs);
    const missingMs = Math.min(lookEveryMs, settings.gracePeriods.resendAfterMs);
    const every = { presentMs: lookEveryMs, missingMs };
    const ended = await endedNotFinal(db, chain, every, LOOKS_TOGETHER);
    await Promise.all(ended.map(async (one) => noteLooked(db, one.id, await lookOrReport(ports, one))));
  } catch (error) {
    const details = { chain, reason: reason(error) };
    throttledLog.log('warn', `watch.${chain}`, details, 'settled transactions could not be watched');
  }
}

/** Checks final transactions from the newest back to one whose block is the same: earlier blocks are the same then. */
async function watchFinal<K extends ChainKind>(ports: ChainPorts<K>, lookEveryMs: number): Promise<void> {
  const { db, chain } = ports;
  for (let looks = 0; looks < LOOKS_TOGETHER; looks++) {
    const newest = await newestFinal(db, chain, lookEveryMs);
    if (newest === undefined) return;
    const found = await lookOrReport(ports, newest);
    await noteLooked(db, newest.id, found);
    if (found.is === 'final') return;
  }
}

/** When the node fails, the stored result stays and the transaction is checked again in its turn. */
async function lookOrReport<K extends ChainKind>(
  ports: ChainPorts<K>,
  transaction: Transaction,
): Promise<Whereabouts> {
  try {
    return await look(ports, transaction);
  } catch (error) {
    reportSilence(ports, transaction, error);
    if (transaction.missingSince !== null) return { is: 'missing' };
    return { is: transaction.finalAt === null ? 'not_final' : 'final' };
  }
}

async function look<K extends ChainKind>(
  ports: ChainPorts<K>,
  transaction: Transaction,
): Promise<Whereabouts> {
  const { db, sender, chain, logger } = ports;
  const { id, group, txHash, state, finalAt, missingSince, blockHash, blockHeight } = transaction;
  const rules = endedRules[ports.kind];
  // Asked before the status: a block that is final now is final for the status as well.
  const finalized = await sender.finalizedHeight();
  const status = await sender.status(txHash);
  const details = { chain, transaction: txHash, group, state };
  if (status.state !== 'mined') {
    for (const other of await attemptsOf(db, group)) {
      if (other.id === id || (await sender.status(other.txHash)).state !== 'mined') continue;
      await rules.alignWithMined?.(db, other);
      const both = { ...details, other: other.txHash };
      logger.error(both, 'another attempt has taken the place of a settled one');
      return { is: 'not_final' };
    }
    if (finalAt !== null && (await rules.mayBePruned?.(ports, transaction)) === true) return { is: 'final' };
    if (isNodeBehind(finalized, transaction)) {
      throw new Error(`its block ${blockHeight} was final, and the node's last final one is ${finalized}`);
    }
    await sendAgain(ports, transaction);
    return { is: 'missing' };
  }
  await rules.alignWithMined?.(db, transaction);
  if (status.succeeded !== (state === 'mined')) {
    logger.error(details, 'a settled transaction ended the other way after a reorganisation');
  }
  if (missingSince !== null) logger.info(details, 'a settled transaction is in the chain again');
  // When another block includes it now, earlier blocks may have changed too.
  const isWhereItWas = finalAt === null || status.blockHash === blockHash;
  return { is: status.height <= finalized && isWhereItWas ? 'final' : 'not_final', block: status };
}

async function sendAgain<K extends ChainKind>(
  { db, chain, sender, clock, logger }: ChainPorts<K>,
  { id, group, txHash, raw, state, wallet, nonce, missingSince }: Transaction,
): Promise<void> {
  const answer = await sender.broadcast(raw);
  await noteSent(db, id, clock.now());
  const details = { chain, transaction: txHash, group, state, wallet, nonce, answer };
  const message = 'a settled transaction has left the chain, sending it again';
  // Logged when it begins and when it ends. In between a metric counts it.
  if (missingSince === null) logger.error(details, message);
  else logger.debug(details, message);
}
