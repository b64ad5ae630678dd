import type { TransactionStatus } from '@quittance/chains/chain';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { invariant } from '@quittance/shared/result';
import pMap from 'p-map';
import { isNodeBehind } from '../../domain/states.ts';
import type { EvmPorts } from '../../ports.ts';
import { attemptsOf, type SweepOutsideBlocks } from '../../store/replacement-groups.ts';
import {
  endedFromNonce,
  noteMissing,
  noteSearched,
  type ReplacementGroup,
  type Transaction,
} from '../../store/transactions.ts';
import { insertWalletOnce, nextNonce, skipUsedNonces } from '../../store/wallets.ts';

/**
 * How many nonces of the hot wallet the chain has used, and why the wallet must not sign: the chain has used nonces that
 * this database has not. Either the database has lost commits, and payouts that look unpaid are paid, or another party
 * has the key.
 */
export async function readHistory({ db, chain, sender }: EvmPorts) {
  // The chain is read first. Our transactions are stored before they are sent, so none of them can look unknown.
  const used = await sender.nonce(sender.hotAddress, 'latest');
  const next = await nextNonce(db, chain, sender.hotAddress);
  if (next === undefined || used <= next) return { used, unknown: undefined };
  const unknown = `the chain has transactions of this wallet that this database does not know (${sender.hotAddress}: nonce ${used}, here ${next}): nothing is signed until an operator decides`;
  return { used, unknown };
}

/**
 * Whether the mempool has transactions of the hot wallet that this database does not know, as after it was restored from a
 * backup. Until a block includes them they are not in `readHistory`.
 */
export async function hasUnknownPending({ db, chain, sender }: EvmPorts): Promise<boolean> {
  // The chain is read first, as in readHistory.
  const pending = await sender.nonce(sender.hotAddress, 'pending');
  const next = await nextNonce(db, chain, sender.hotAddress);
  return next === undefined || pending > next;
}

/**
 * Makes sure that the next nonce of a wallet is known; false when it cannot be known yet. The chain is asked once, before
 * the wallet's first signature here, because the wallet may have a history. After that our own table decides. A deposit
 * address skips nonces that others have used in final blocks; the hot wallet never skips one.
 */
export async function openWallet(ports: EvmPorts, lease: Lease, address: string): Promise<boolean> {
  const { db, chain, sender, logger } = ports;
  const next = await nextNonce(db, chain, address);
  if (next === undefined) return openFirst(ports, lease, address);
  if (address === sender.hotAddress) return true;
  const finalized = await sender.nonce(address, 'finalized');
  if (finalized <= next) return true;
  const skipped = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    return skipUsedNonces(trx, chain, address, finalized);
  });
  if (skipped) {
    const details = { wallet: address, from: next, to: finalized };
    logger.error(details, 'nonces were used elsewhere: this wallet is not ours alone');
  }
  return true;
}

/** Waits until the wallet's history is final: a reorganisation of it would leave a gap before our first nonce. */
async function openFirst(ports: EvmPorts, lease: Lease, address: string): Promise<boolean> {
  const { db, chain, sender, logger, throttledLog } = ports;
  const finalized = await sender.nonce(address, 'finalized');
  const used = await sender.nonce(address, 'latest');
  const details = { wallet: address, used, finalized };
  if (finalized !== used) {
    const message = 'a wallet waits until its earlier transactions are final';
    throttledLog.log('warn', `wallet.${address}`, details, message);
    return false;
  }
  await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    await insertWalletOnce(trx, chain, address, address === sender.hotAddress ? 'hot' : 'deposit', used);
  });
  failpoint('evm.wallet_opened');
  logger.info(details, 'a wallet signs here for the first time');
  return true;
}

const NAMED_MAX = 100;

/**
 * Finds ended transactions whose nonces the chain has not used: a reorganisation has dropped them, and no later
 * transaction of their wallet can be mined before they are. watch-ended.ts sends them again at once.
 * @param next the next nonce of the wallet in the chain, read before this
 * @returns whether the node lags behind blocks that were final, so that its balances are old
 */
export async function noteGap(ports: EvmPorts, wallet: string, next: number): Promise<boolean> {
  const { db, chain, sender, logger } = ports;
  if ((await endedFromNonce(db, chain, wallet, next, 1)).length === 0) return false;
  // Asked before the nonce: a transaction that is final now has used its nonce by then.
  const finalized = await sender.finalizedHeight();
  const used = await sender.nonce(wallet, 'latest');
  const missing = await endedFromNonce(db, chain, wallet, used, NAMED_MAX);
  const isBehind = (transaction: Transaction) => isNodeBehind(finalized, transaction);
  const fresh = missing.filter((one) => one.missingSince === null && !isBehind(one));
  if (fresh.length > 0) {
    const ids = fresh.map(({ id }) => id);
    await noteMissing(db, ids);
    const nonces = fresh.map(({ nonce }) => nonce);
    const transactions = fresh.map(({ txHash }) => txHash);
    logger.error(
      { chain, wallet, next_nonce_of_chain: used, missing_nonces: nonces, transactions },
      'nonces of a wallet are missing in the chain after a reorganisation: later transactions wait, the stored bytes are sent again',
    );
  }
  return missing.some(isBehind);
}

const CONCURRENT_NONCES = 8;

/**
 * A sweep that is mined after open transactions and before balances are read would count although its block can still be
 * dropped. So a sweep is deducted when its nonce is used by then, and when the node does not answer for its wallet.
 * @param sweeps read before the open transactions; this is called after the balances were read
 */
export async function sweptWhileReading(
  { sender }: EvmPorts,
  sweeps: readonly SweepOutsideBlocks[],
): Promise<SweepOutsideBlocks[]> {
  const reached = await pMap(
    Map.groupBy(sweeps, ({ wallet }) => wallet),
    async ([wallet, ofWallet]) => {
      const next = await sender.nonce(wallet, 'latest').catch(() => Number.POSITIVE_INFINITY);
      return ofWallet.filter(({ nonce }) => nonce < next);
    },
    { concurrency: CONCURRENT_NONCES },
  );
  return reached.flat();
}

/** What the blocks show about a used nonce. */
type FoundByNonce = { state: 'found'; height: number; blockHash: string } | { state: 'replaced'; by: string };

/** What the chain shows of a group: of the attempt that a block includes, otherwise of the newest. */
export type EvmLook = { of: Transaction; seen: TransactionStatus | FoundByNonce | { state: 'not_reached' } };

const BLOCKS_AT_ONCE = 64;
export const BLOCKS_PER_ROUND = 256;

/**
 * Searches the final blocks since the signature for the transaction that used this nonce. A missing receipt proves
 * nothing; another transaction with the nonce does. The progress is stored, so that a long search continues in the next
 * rounds. While nothing is found, no money moves.
 * @param budget how many blocks this round may still search, for all transactions together
 */
export async function searchNonce(
  { db, sender, throttledLog }: EvmPorts,
  [first]: ReplacementGroup,
  look: EvmLook,
  budget: { blocks: number },
): Promise<EvmLook> {
  const { id, group, wallet, nonce, finalHeightWhenSigned, searchedTo } = first;
  invariant(nonce !== null, 'only a nonce can be searched for');
  const details = { transaction: look.of.txHash, group, wallet, nonce };
  let done = searchedTo ?? finalHeightWhenSigned;
  try {
    const finalHeight = await sender.finalizedHeight();
    while (done !== null && done < finalHeight && budget.blocks > 0) {
      const to = Math.min(finalHeight, done + Math.min(BLOCKS_AT_ONCE, budget.blocks));
      const found = await sender.findByNonce(wallet, nonce, done + 1, to);
      budget.blocks -= (found?.height ?? to) - done;
      done = found === undefined ? to : found.height - 1;
      await noteSearched(db, id, done);
      if (found === undefined) continue;
      const { height, blockHash } = found;
      const ours = (await attemptsOf(db, group)).find(({ txHash }) => txHash === found.txHash);
      if (ours === undefined) return { ...look, seen: { state: 'replaced', by: found.txHash } };
      const where = { ...details, transaction: ours.txHash, height, block: blockHash };
      const message = 'a transaction is mined, but the node has no receipt of it';
      throttledLog.log('error', `found.${id}`, where, message);
      return { of: ours, seen: { state: 'found', height, blockHash } };
    }
    if (done === null || done >= finalHeight) {
      const message = 'a nonce is used up and nothing with it can be found: what became of it cannot be told';
      throttledLog.log('error', `lost.${id}`, { ...details, searched_to: done }, message);
    }
  } catch (error) {
    const why = { ...details, searched_to: done, reason: reason(error) };
    const message = 'blocks could not be searched for a transaction, trying again';
    throttledLog.log('warn', `search.${id}`, why, message);
  }
  return look;
}
