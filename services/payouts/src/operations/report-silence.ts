import { NoQuorum } from '@quittance/chains/chain';
import { StatusMissing } from '@quittance/chains/solana/non-inclusion';
import { reason } from '@quittance/shared/logger';
import type { ChainPorts } from '../ports.ts';
import type { Transaction } from '../store/transactions.ts';

/**
 * Logs that nothing is known of a transaction: once a minute for each chain, because a node that fails does so for many.
 * Nodes that disagree are a line of their own, so that a node that is away for a moment does not hide them. A node that
 * lacks what it must have will not get it by itself: an error for each transaction, once a minute.
 */
export function reportSilence(
  { chain, throttledLog }: Pick<ChainPorts, 'chain' | 'throttledLog'>,
  { id, txHash }: Pick<Transaction, 'id' | 'txHash'>,
  error: unknown,
): void {
  const details = { chain, transaction: txHash, reason: reason(error) };
  const message = 'the node does not tell of a transaction';
  if (error instanceof StatusMissing) throttledLog.log('error', `look.${id}`, details, message);
  else if (error instanceof NoQuorum)
    throttledLog.log('warn', `disagree.${chain}`, details, 'the nodes do not agree about a transaction');
  else throttledLog.log('warn', `look.${chain}`, details, message);
}
