import type { EvmPorts } from '../../ports.ts';
import { endedFromNonce, noteMissing } from '../../store-transactions.ts';

const NAMED_MAX = 100;

/**
 * Finds the transactions that had ended, although the chain has not used their nonces: a reorganisation has dropped
 * them, and nothing later of their wallet can be mined before they are back. They are sent again at once, see
 * watch-ended.ts.
 * @param next the nonce that the chain takes next from the wallet, read before this
 * @returns whether there are any.
 */
export async function noteGap(
  { db, chain, logger }: Pick<EvmPorts, 'db' | 'chain' | 'logger'>,
  wallet: string,
  next: number,
): Promise<boolean> {
  const missing = await endedFromNonce(db, chain, wallet, next, NAMED_MAX);
  const fresh = missing.filter(({ missingSince }) => missingSince === null);
  if (fresh.length > 0) {
    await noteMissing(
      db,
      fresh.map(({ id }) => id),
    );
    const nonces = fresh.map(({ nonce }) => nonce);
    const transactions = fresh.map(({ txHash }) => txHash);
    logger.error(
      { chain, wallet, next_nonce_of_chain: next, missing_nonces: nonces, transactions },
      'nonces of a wallet are missing in the chain after a reorganisation: later transactions wait, the stored bytes are sent again',
    );
  }
  return missing.length > 0;
}
