import { assertLease, type Lease } from '@quittance/shared/lease';
import type { Ports } from '../ports.ts';
import { insertWalletOnce, nextNonce, skipUsedNonces } from '../store-transactions.ts';

/**
 * Makes sure that we know which nonce a wallet uses next. The chain is asked once, before the wallet's first
 * signature here: it may have a history. After that our own table alone decides, but for nonces that others have
 * used in blocks that are final: those can never be ours.
 */
export async function openWallet(
  { db, sender, logger }: Pick<Ports, 'db' | 'sender' | 'logger'>,
  lease: Lease,
  address: string,
): Promise<void> {
  const { chain, hotAddress } = sender;
  const next = await nextNonce(db, chain, address);
  if (next === undefined) {
    const used = await sender.nonce(address, 'latest');
    await db.transaction(async (trx) => {
      await assertLease(trx, lease);
      await insertWalletOnce(trx, chain, address, address === hotAddress ? 'hot' : 'deposit', used);
    });
    logger.info({ wallet: address, nonce: used }, 'a wallet signs here for the first time');
    return;
  }
  const finalized = await sender.nonce(address, 'finalized');
  if (finalized <= next) return;
  const skipped = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    return skipUsedNonces(trx, chain, address, finalized);
  });
  if (skipped) {
    logger.error(
      { wallet: address, from: next, to: finalized },
      'nonces were used elsewhere: this wallet is not ours alone',
    );
  }
}
