import type { TransactionStatus } from '@quittance/chains/chain';
import { crashPoint } from '@quittance/shared/crash';
import type { Lease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { assertNever, invariant } from '@quittance/shared/result';
import { judge, needsSearch, type OpenTransaction, type Progress } from '../../domain/evm/judge.ts';
import type { EvmPorts } from '../../ports.ts';
import {
  type Family,
  newestOf,
  noteBlock,
  noteDoubt,
  openFamilies,
  type Transaction,
  walletsWithOpenTransactions,
} from '../../store-transactions.ts';
import { keepLease } from '../keep-lease.ts';
import { sendTransaction } from '../send-transaction.ts';
import { settleTransaction } from '../settle-transaction.ts';
import { buryReplaced } from './bury-replaced.ts';
import { noteGap } from './note-gap.ts';
import { BLOCKS_PER_ROUND, type Found, searchNonce } from './search-nonce.ts';

const WALLETS_AT_ONCE = 100;
const OPEN_AT_ONCE = 200;
const ASKED_TOGETHER = 8;
/** A node that is silent so often is asked no more in this round: each silence costs a time limit. */
const SILENCES_MAX = 16;

/**
 * Asks the chain what has become of everything signed whose end is open, and sends again what is in no block.
 * @returns how many came to their end.
 */
export async function followTransactions(ports: EvmPorts, lease: Lease): Promise<number> {
  const { db, chain, sender, clock, settings } = ports;
  const budget = { blocks: BLOCKS_PER_ROUND };
  let ended = 0;
  let silences = 0;
  const wallets = await walletsWithOpenTransactions(db, chain, sender.hotAddress, WALLETS_AT_ONCE);
  for (const wallet of wallets) {
    const open = await openFamilies(db, chain, wallet, OPEN_AT_ONCE);
    const progress = await progressOf(ports, wallet);
    if (progress === undefined) {
      if (++silences >= SILENCES_MAX) return ended;
      continue;
    }
    const [lowest] = open;
    if (lowest !== undefined && progress.latest < nonceOf(lowest[0]))
      await noteGap(ports, wallet, progress.latest);
    for (let from = 0; from < open.length; from += ASKED_TOGETHER) {
      await keepLease(ports, lease);
      const some = open.slice(from, from + ASKED_TOGETHER);
      const looks = await Promise.all(some.map((family) => lookOrSay(ports, family, progress)));
      for (const [i, family] of some.entries()) {
        let look = looks[i];
        if (look === undefined) {
          silences += 1;
          continue;
        }
        if (needsSearch(asOne(family), look.seen, progress, clock.now(), settings.patience)) {
          await keepLease(ports, lease);
          look = await searchNonce(ports, family, look, budget);
        }
        ended += await follow(ports, lease, family, look, progress);
      }
      if (silences >= SILENCES_MAX) return ended;
    }
  }
  return ended;
}

/** Asked before the transactions are: a receipt that is missing afterwards cannot have been too young. */
async function progressOf({ sender, notices }: EvmPorts, wallet: string): Promise<Progress | undefined> {
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

/** What the chain tells of a family: of the attempt that is in a block, else of the newest. */
export type Look = { of: Transaction; seen: TransactionStatus | Found | { state: 'not_reached' } };

/** One family that the node will not talk about does not hold up the others. */
async function lookOrSay(ports: EvmPorts, family: Family, progress: Progress): Promise<Look | undefined> {
  try {
    return await look(ports, family, progress);
  } catch (error) {
    const { id, txHash } = newestOf(family);
    const said = { transaction: txHash, reason: reason(error) };
    ports.notices.say('warn', `look.${id}`, said, 'the node does not tell of a transaction');
    return undefined;
  }
}

async function look({ sender }: EvmPorts, family: Family, progress: Progress): Promise<Look> {
  const newest = newestOf(family);
  if (nonceOf(newest) >= progress.latest) return { of: newest, seen: { state: 'not_reached' } };
  const looks = await Promise.all(family.map(async (of) => ({ of, seen: await sender.status(of.txHash) })));
  const last = looks.at(-1);
  invariant(last !== undefined, 'a family has an attempt');
  return looks.find(({ seen }) => seen.state === 'mined') ?? last;
}

/** The family as the judge sees it. Doubt is kept with the first attempt, which is open as long as the family is. */
function asOne(family: Family): OpenTransaction {
  const [first] = family;
  const newest = newestOf(family);
  return {
    nonce: nonceOf(first),
    minConfirmations: first.minConfirmations,
    blockHash: family.find(({ blockHash }) => blockHash !== null)?.blockHash ?? null,
    lastBroadcastAt: newest.lastBroadcastAt,
    doubtedAt: first.doubtedAt,
  };
}

/** 1 when it came to its end. */
async function follow(
  ports: EvmPorts,
  lease: Lease,
  family: Family,
  { of, seen }: Look,
  progress: Progress,
): Promise<number> {
  const { db, clock, logger, settings } = ports;
  const [first] = family;
  await rememberBlock(ports, family, { of, seen });
  const verdict = judge(asOne(family), seen, progress, clock.now(), settings.patience);
  switch (verdict.is) {
    case 'in_block':
    case 'sent':
      return 0;
    case 'to_send':
      for (const attempt of toSend(family)) await sendTransaction(ports, attempt);
      return 0;
    case 'settled':
      if (seen.state !== 'mined') return 0;
      return (await settleTransaction(ports, lease, of, seen)) ? 1 : 0;
    case 'doubtful':
      if (first.doubtedAt === null) {
        await noteDoubt(db, first.id, clock.now());
        const { txHash, wallet, nonce } = newestOf(family);
        logger.error(
          { transaction: txHash, wallet, nonce },
          'the nonce of a transaction is used up and the node has no receipt of it',
        );
      }
      return 0;
    case 'dead':
      return (await buryReplaced(ports, lease, family, progress.finalized)) ? 1 : 0;
    default:
      return assertNever(verdict);
  }
}

/** While no node has taken the newest attempt, those before it keep their chance. */
const toSend = (family: Family): readonly Transaction[] =>
  newestOf(family).state === 'signed' ? family : [newestOf(family)];

async function rememberBlock({ db, logger }: EvmPorts, family: Family, { of, seen }: Look): Promise<void> {
  const [first] = family;
  const isThere = seen.state === 'mined' || seen.state === 'found';
  if (isThere && seen.blockHash !== of.blockHash) {
    await noteBlock(db, of.id, seen);
    crashPoint('evm.block_noted');
  }
  for (const { id, txHash, blockHash } of family) {
    if (blockHash === null || (isThere && id === of.id)) continue;
    logger.warn(
      { transaction: txHash, block: blockHash },
      isThere
        ? 'a block was dropped, another attempt at the same payment is mined instead'
        : 'a block was dropped, sending the same bytes again',
    );
    await noteBlock(db, id, null);
  }
  const isBelieved = isThere || seen.state === 'not_reached';
  if (first.doubtedAt !== null && isBelieved) await noteDoubt(db, first.id, null);
}

function nonceOf({ txHash, nonce }: Transaction): number {
  invariant(nonce !== null, `${txHash} has no nonce`);
  return nonce;
}
