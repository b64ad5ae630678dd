import { StatusMissing } from '@quittance/chains/solana/non-inclusion';
import { reason } from '@quittance/shared/logger';
import type { ChainPorts } from '../ports.ts';
import type { Transaction } from '../store/transactions.ts';

/**
 * Logs that the node told nothing of a transaction: once a minute for each chain and kind of failure, because a node that
 * fails does so for many, and nodes that disagree must not be hidden by one that is away for a moment. A node that lacks
 * what it must have will not get it by itself: an error for each transaction, once a minute.
 */
export function reportSilence(
  { chain, throttledLog }: Pick<ChainPorts, 'chain' | 'throttledLog'>,
  { id, txHash }: Pick<Transaction, 'id' | 'txHash'>,
  error: unknown,
): void {
  const details = { chain, transaction: txHash, reason: reason(error) };
  const message = 'the node does not tell of a transaction';
  if (error instanceof StatusMissing) throttledLog.log('error', `look.${id}`, details, message);
  else throttledLog.log('warn', `look.${chain}.${kindOf(error)}`, details, message);
}

const kindOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
