import { isNodeBehind } from '../../domain/states.ts';
import type { EvmPorts } from '../../ports.ts';
import { endedFromNonce, noteMissing } from '../../store/transactions.ts';

const NAMED_MAX = 100;

/**
 * Finds ended transactions whose nonces the chain has not used: a reorganisation has dropped them, and no later
 * transaction of their wallet can be mined before they are. watch-ended.ts sends them again at once.
 * @param next the next nonce of the wallet in the chain, read before this
 * @returns whether the node lags behind blocks that were final, so that its balances are old
 */
export async function noteGap(
  { db, chain, sender, logger }: Pick<EvmPorts, 'db' | 'chain' | 'sender' | 'logger'>,
  wallet: string,
  next: number,
): Promise<boolean> {
  if ((await endedFromNonce(db, chain, wallet, next, 1)).length === 0) return false;
  // Asked before the nonce: a transaction that is final now has used its nonce by then.
  const finalized = await sender.finalizedHeight();
  const used = await sender.nonce(wallet, 'latest');
  const missing = await endedFromNonce(db, chain, wallet, used, NAMED_MAX);
  const fresh = missing.filter(
    (transaction) => transaction.missingSince === null && !isNodeBehind(finalized, transaction),
  );
  if (fresh.length > 0) {
    await noteMissing(
      db,
      fresh.map(({ id }) => id),
    );
    const nonces = fresh.map(({ nonce }) => nonce);
    const transactions = fresh.map(({ txHash }) => txHash);
    logger.error(
      { chain, wallet, next_nonce_of_chain: used, missing_nonces: nonces, transactions },
      'nonces of a wallet are missing in the chain after a reorganisation: later transactions wait, the stored bytes are sent again',
    );
  }
  return missing.some((transaction) => isNodeBehind(finalized, transaction));
}
