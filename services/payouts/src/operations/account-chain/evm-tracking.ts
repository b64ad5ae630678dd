import { failpoint } from '@quittance/shared/failpoint';
import { type Lease, renewLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { assertNever, invariant } from '@quittance/shared/result';
import {
  type NonceProgress,
  needsSearch,
  nextEvmStep,
  type OpenEvmGroup,
} from '../../domain/evm/next-step.ts';
import type { EvmPorts } from '../../ports.ts';
import {
  newestOf,
  noteBlock,
  noteDoubt,
  type ReplacementGroup,
  type Transaction,
} from '../../store/transactions.ts';
import { skipUsedNonces } from '../../store/wallets.ts';
import { invalidateGroup, sendTransaction, settleTransaction } from '../transactions.ts';
import { BLOCKS_PER_ROUND, type EvmLook, noteGap, searchNonce } from './evm-nonces.ts';
import type { TransactionTracker } from './follow-transactions.ts';

/**
 * Follows transactions by the nonces that the chain has used. When a nonce is used and the node has no receipt, the
 * blocks are searched for the nonce, up to a limit per round.
 */
export function evmTracker(ports: EvmPorts, lease: Lease): TransactionTracker<NonceProgress, EvmLook> {
  const budget = { blocks: BLOCKS_PER_ROUND };
  const { clock, settings } = ports;
  return {
    async progressOf(wallet, [lowest]) {
      const progress = await askProgress(ports, wallet);
      if (progress !== undefined && lowest !== undefined && progress.latest < nonceOf(lowest[0])) {
        await noteGap(ports, wallet, progress.latest);
      }
      return progress;
    },

    look: (group, progress) => askAbout(ports, group, progress),

    async act(group, look, progress) {
      const isSearched = needsSearch(asOne(group), look.seen, progress, clock.now(), settings.gracePeriods);
      if (isSearched) await renewLease(ports.db, lease);
      const known = isSearched ? await searchNonce(ports, group, look, budget) : look;
      return follow(ports, lease, group, known, progress);
    },
  };
}

/** Read before the transactions: a receipt that is missing afterwards is not missing because it is too new. */
async function askProgress({ sender, throttledLog }: EvmPorts, wallet: string) {
  try {
    const both = [sender.nonce(wallet, 'finalized'), sender.nonce(wallet, 'latest')] as const;
    const [finalized, latest] = await Promise.all(both);
    return { finalized, latest };
  } catch (error) {
    const details = { wallet, reason: reason(error) };
    const message = 'the node does not tell how far a wallet has come';
    throttledLog.log('warn', `progress.${wallet}`, details, message);
    return undefined;
  }
}

async function askAbout(
  { sender }: EvmPorts,
  group: ReplacementGroup,
  progress: NonceProgress,
): Promise<EvmLook> {
  const newest = newestOf(group);
  if (nonceOf(newest) >= progress.latest) return { of: newest, seen: { state: 'not_reached' } };
  const looks = await Promise.all(group.map(async (of) => ({ of, seen: await sender.status(of.txHash) })));
  const last = looks.at(-1);
  invariant(last !== undefined, 'a replacement group has an attempt');
  return looks.find(({ seen }) => seen.state === 'mined') ?? last;
}

/**
 * The group as `nextEvmStep` reads it. `doubtedAt` is stored with the first attempt, which is open as long as the group.
 */
function asOne(group: ReplacementGroup): OpenEvmGroup {
  const [first] = group;
  const newest = newestOf(group);
  return {
    nonce: nonceOf(first),
    minConfirmations: first.minConfirmations,
    blockHash: group.find(({ blockHash }) => blockHash !== null)?.blockHash ?? null,
    lastBroadcastAt: newest.lastBroadcastAt,
    doubtedAt: first.doubtedAt,
  };
}

/** Whether the group has ended. */
async function follow(
  ports: EvmPorts,
  lease: Lease,
  group: ReplacementGroup,
  { of, seen }: EvmLook,
  progress: NonceProgress,
): Promise<boolean> {
  const { db, chain, sender, clock, logger, settings } = ports;
  const [first] = group;
  const { wallet } = first;
  await rememberBlock(ports, group, { of, seen });
  const step = nextEvmStep(asOne(group), seen, progress, clock.now(), settings.gracePeriods);
  switch (step.is) {
    case 'in_block':
    case 'sent':
      return false;
    case 'to_send': {
      // While no node has accepted the newest attempt, the earlier ones are sent too.
      const attempts = newestOf(group).state === 'signed' ? group : [newestOf(group)];
      for (const attempt of attempts) await sendTransaction(ports, attempt);
      return false;
    }
    case 'settled':
      if (seen.state !== 'mined') return false;
      return settleTransaction(ports, lease, of, seen);
    case 'doubtful':
      if (first.doubtedAt === null) {
        await noteDoubt(db, first.id, clock.now());
        const { txHash, nonce } = newestOf(group);
        const details = { transaction: txHash, wallet, nonce };
        logger.error(details, 'the nonce of a transaction is used up and the node has no receipt of it');
      }
      return false;
    case 'replaced':
      invariant(progress.finalized > nonceOf(first), 'only a final block proves that a nonce is used up');
      return invalidateGroup(ports, lease, first, async (trx) => {
        // A deposit address skips nonces that others have used.
        if (wallet !== sender.hotAddress) await skipUsedNonces(trx, chain, wallet, progress.finalized);
      });
    default:
      return assertNever(step);
  }
}

async function rememberBlock(
  { db, logger }: EvmPorts,
  group: ReplacementGroup,
  { of, seen }: EvmLook,
): Promise<void> {
  const [first] = group;
  const isThere = seen.state === 'mined' || seen.state === 'found';
  if (isThere && seen.blockHash !== of.blockHash) {
    await noteBlock(db, of.id, seen);
    failpoint('evm.block_noted');
  }
  for (const { id, txHash, blockHash } of group) {
    if (blockHash === null || (isThere && id === of.id)) continue;
    const then = isThere
      ? 'another attempt at the same payment is mined instead'
      : 'sending the same bytes again';
    logger.warn({ transaction: txHash, block: blockHash }, `a block was dropped, ${then}`);
    await noteBlock(db, id, null);
  }
  const isBelieved = isThere || seen.state === 'not_reached';
  if (first.doubtedAt !== null && isBelieved) await noteDoubt(db, first.id, null);
}

function nonceOf({ txHash, nonce }: Transaction): number {
  invariant(nonce !== null, `${txHash} has no nonce`);
  return nonce;
}
