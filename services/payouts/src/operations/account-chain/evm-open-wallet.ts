import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import type { EvmPorts } from '../../ports.ts';
import { insertWalletOnce, nextNonce, skipUsedNonces } from '../../store/wallets.ts';

type WalletPorts = Pick<EvmPorts, 'db' | 'chain' | 'sender' | 'logger' | 'throttledLog'>;

/**
 * Makes sure that the next nonce of a wallet is known; false when it cannot be known yet. The chain is asked once, before
 * the wallet's first signature here, because the wallet may have a history. After that our own table decides. A deposit
 * address skips nonces that others have used in final blocks; the hot wallet never skips one.
 */
export async function openWallet(ports: WalletPorts, lease: Lease, address: string): Promise<boolean> {
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
async function openFirst(
  { db, chain, sender, logger, throttledLog }: WalletPorts,
  lease: Lease,
  address: string,
): Promise<boolean> {
  const finalized = await sender.nonce(address, 'finalized');
  const used = await sender.nonce(address, 'latest');
  const details = { wallet: address, used, finalized };
  if (finalized !== used) {
    throttledLog.log(
      'warn',
      `wallet.${address}`,
      details,
      'a wallet waits until its earlier transactions are final',
    );
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
