import type { TransactionStatus } from '@quittance/chains/chain';
import type { Lease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { assertNever } from '@quittance/shared/result';
import { judge, needsSearch, type Progress, type Seen } from '../domain/judge.ts';
import type { Ports } from '../ports.ts';
import {
  noteBlock,
  noteDoubt,
  openTransactions,
  type Transaction,
  walletsWithOpenTransactions,
} from '../store-transactions.ts';
import { buryTransaction } from './bury-transaction.ts';
import { keepLease } from './keep-lease.ts';
import { BLOCKS_PER_ROUND, type Found, searchNonce } from './search-nonce.ts';
import { sendTransaction } from './send-transaction.ts';
import { settleTransaction } from './settle-transaction.ts';

const WALLETS_AT_ONCE = 100;
const OPEN_AT_ONCE = 200;
const ASKED_TOGETHER = 8;
/** A node that is silent so often is asked no more in this round: each silence costs a time limit. */
const SILENCES_MAX = 16;

/**
 * Asks the chain what has become of everything signed whose end is open, and sends again what is in no block.
 * @returns how many came to their end.
 */
export async function followTransactions(ports: Ports, lease: Lease): Promise<number> {
  const { db, sender, clock, settings } = ports;
  const budget = { blocks: BLOCKS_PER_ROUND };
  let ended = 0;
  let silences = 0;
  const wallets = await walletsWithOpenTransactions(db, sender.chain, sender.hotAddress, WALLETS_AT_ONCE);
  for (const wallet of wallets) {
    const open = await openTransactions(db, sender.chain, wallet, OPEN_AT_ONCE);
    const progress = await progressOf(ports, wallet);
    if (progress === undefined) {
      if (++silences >= SILENCES_MAX) return ended;
      continue;
    }
    for (let from = 0; from < open.length; from += ASKED_TOGETHER) {
      await keepLease(ports, lease);
      const some = open.slice(from, from + ASKED_TOGETHER);
      const seen = await Promise.all(some.map((transaction) => lookOrSay(ports, transaction, progress)));
      for (const [i, transaction] of some.entries()) {
        let look = seen[i];
        if (look === undefined) {
          silences += 1;
          continue;
        }
        if (
          (look.state === 'absent' || look.state === 'pending') &&
          needsSearch(transaction, look, progress, clock.now(), settings.patience)
        ) {
          await keepLease(ports, lease);
          look = await searchNonce(ports, transaction, look, budget);
        }
        ended += await follow(ports, lease, transaction, look, progress);
      }
      if (silences >= SILENCES_MAX) return ended;
    }
  }
  return ended;
}

/** Asked before the transactions are: a receipt that is missing afterwards cannot have been too young. */
async function progressOf({ sender, notices }: Ports, wallet: string): Promise<Progress | undefined> {
  try {
    const [finalized, latest] = await Promise.all([
      sender.nonce(wallet, 'finalized'),
      sender.nonce(wallet, 'latest'),
    ]);
    return { finalized, latest };
  } catch (error) {
    const said = { wallet, reason: reason(error) };
    notices.say('warn', `progress.${wallet}`, said, 'the node does not tell how far a wallet has come');
    return undefined;
  }
}

type Look = TransactionStatus | Found | { state: 'not_reached' };

/** One transaction that the node will not talk about does not hold up the others. */
async function lookOrSay(
  ports: Ports,
  transaction: Transaction,
  progress: Progress,
): Promise<Look | undefined> {
  try {
    return await look(ports, transaction, progress);
  } catch (error) {
    const said = { transaction: transaction.txHash, reason: reason(error) };
    ports.notices.say('warn', `look.${transaction.id}`, said, 'the node does not tell of a transaction');
    return undefined;
  }
}

async function look({ sender }: Ports, { nonce, txHash }: Transaction, progress: Progress): Promise<Look> {
  return nonce < progress.latest ? sender.status(txHash) : { state: 'not_reached' };
}

/** 1 when it came to its end. */
async function follow(
  ports: Ports,
  lease: Lease,
  transaction: Transaction,
  seen: Look,
  progress: Progress,
): Promise<number> {
  const { clock, logger, settings } = ports;
  await rememberBlock(ports, transaction, seen);
  const verdict = judge(transaction, seen satisfies Seen, progress, clock.now(), settings.patience);
  switch (verdict.is) {
    case 'in_block':
    case 'sent':
      return 0;
    case 'to_send':
      await sendTransaction(ports, transaction);
      return 0;
    case 'settled':
      if (seen.state !== 'mined') return 0;
      return (await settleTransaction(ports, lease, transaction, seen)) ? 1 : 0;
    case 'doubtful':
      if (transaction.doubtedAt === null) {
        await noteDoubt(ports.db, transaction.id, clock.now());
        logger.error(
          { transaction: transaction.txHash, wallet: transaction.wallet, nonce: transaction.nonce },
          'the nonce of a transaction is used up and the node has no receipt of it',
        );
      }
      return 0;
    case 'dead':
      return (await buryTransaction(ports, lease, transaction, progress.finalized)) ? 1 : 0;
    default:
      return assertNever(verdict);
  }
}

async function rememberBlock({ db, logger }: Ports, transaction: Transaction, seen: Look): Promise<void> {
  const { id, blockHash, doubtedAt, txHash } = transaction;
  if (seen.state === 'mined' || seen.state === 'found') {
    if (seen.blockHash !== blockHash) await noteBlock(db, id, seen);
    return;
  }
  if (blockHash !== null) {
    logger.warn(
      { transaction: txHash, block: blockHash },
      'a block was dropped, sending the same bytes again',
    );
    await noteBlock(db, id, null);
  } else if (doubtedAt !== null && seen.state === 'not_reached') {
    await noteDoubt(db, id, null);
  }
}
