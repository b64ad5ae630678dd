import { reason } from '@quittance/shared/logger';
import { invariant } from '@quittance/shared/result';
import type { EvmPorts } from '../../ports.ts';
import { attemptsOf } from '../../store/replacement-groups.ts';
import type { Family } from '../../store/transaction-rows.ts';
import { noteSearched } from '../../store/transactions.ts';
import type { Look } from './evm-tracking.ts';

/** What the blocks themselves tell of a nonce that is used up. */
export type Found = { state: 'found'; height: number; blockHash: string } | { state: 'replaced'; by: string };

/** How many blocks one round may still search, for all transactions together. */
export type SearchBudget = { blocks: number };

const BLOCKS_AT_ONCE = 64;
export const BLOCKS_PER_ROUND = 256;

/**
 * Searches the final blocks since the signature for the transaction that used this nonce: a missing receipt proves
 * nothing, another transaction in its place does. What was searched is remembered, so that a long search goes on in
 * the next rounds. Whatever is not found stays as it was seen: no money moves for it.
 */
export async function searchNonce(
  { db, sender, notices }: Pick<EvmPorts, 'db' | 'sender' | 'notices'>,
  [first]: Family,
  look: Look,
  budget: SearchBudget,
): Promise<Look> {
  const { id, family, wallet, nonce, finalHeightWhenSigned, searchedTo } = first;
  invariant(nonce !== null, 'only a nonce can be searched for');
  const said = { transaction: look.of.txHash, family, wallet, nonce };
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
      const ours = (await attemptsOf(db, family)).find(({ txHash }) => txHash === found.txHash);
      if (ours === undefined) return { ...look, seen: { state: 'replaced', by: found.txHash } };
      const where = { ...said, transaction: ours.txHash, height, block: blockHash };
      notices.say('error', `found.${id}`, where, 'a transaction is mined, but the node has no receipt of it');
      return { of: ours, seen: { state: 'found', height, blockHash } };
    }
    if (done === null || done >= finalHeight) {
      const trouble = 'a nonce is used up and nothing with it can be found: what became of it cannot be told';
      notices.say('error', `lost.${id}`, { ...said, searched_to: done }, trouble);
    }
  } catch (error) {
    const why = { ...said, searched_to: done, reason: reason(error) };
    notices.say('warn', `search.${id}`, why, 'blocks could not be searched for a transaction, trying again');
  }
  return look;
}
