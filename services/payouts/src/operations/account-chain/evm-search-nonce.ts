import type { TransactionStatus } from '@quittance/chains/chain';
import { reason } from '@quittance/shared/logger';
import { invariant } from '@quittance/shared/result';
import type { EvmPorts } from '../../ports.ts';
import { attemptsOf } from '../../store/replacement-groups.ts';
import { noteSearched, type ReplacementGroup, type Transaction } from '../../store/transactions.ts';

/** What the blocks show about a used nonce. */
type FoundByNonce = { state: 'found'; height: number; blockHash: string } | { state: 'replaced'; by: string };

/** What the chain shows of a group: of the attempt that a block includes, otherwise of the newest. */
export type EvmLook = { of: Transaction; seen: TransactionStatus | FoundByNonce | { state: 'not_reached' } };

/** How many blocks this round may still search, for all transactions together. */
export type SearchBudget = { blocks: number };

const BLOCKS_AT_ONCE = 64;
export const BLOCKS_PER_ROUND = 256;

/**
 * Searches the final blocks since the signature for the transaction that used this nonce. A missing receipt proves
 * nothing; another transaction with the nonce does. The progress is stored, so that a long search continues in the next
 * rounds. While nothing is found, no money moves.
 */
export async function searchNonce(
  { db, sender, throttledLog }: Pick<EvmPorts, 'db' | 'sender' | 'throttledLog'>,
  [first]: ReplacementGroup,
  look: EvmLook,
  budget: SearchBudget,
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
      throttledLog.log(
        'error',
        `found.${id}`,
        where,
        'a transaction is mined, but the node has no receipt of it',
      );
      return { of: ours, seen: { state: 'found', height, blockHash } };
    }
    if (done === null || done >= finalHeight) {
      const message = 'a nonce is used up and nothing with it can be found: what became of it cannot be told';
      throttledLog.log('error', `lost.${id}`, { ...details, searched_to: done }, message);
    }
  } catch (error) {
    const why = { ...details, searched_to: done, reason: reason(error) };
    throttledLog.log(
      'warn',
      `search.${id}`,
      why,
      'blocks could not be searched for a transaction, trying again',
    );
  }
  return look;
}
