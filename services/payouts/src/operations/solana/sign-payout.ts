import type { SolanaTransferOrder } from '@quittance/chains/solana/transaction';
import { crashPoint } from '@quittance/shared/crash';
import { assertLease, type Lease } from '@quittance/shared/lease';
import type { SolanaPorts } from '../../ports.ts';
import { insertPayments } from '../../store-payments.ts';
import { movePayout, type Payout } from '../../store-payouts.ts';
import { insertSigned, type Transaction } from '../../store-transactions.ts';
import { insertWalletOnce } from '../../store-wallets.ts';

/**
 * Signs a payout's first transaction and stores its bytes; nothing has left yet. The holder of a lost lease, and a
 * payout that is no longer waiting, are refused inside the same database transaction.
 */
export async function signPayout(
  { db, chain, sender }: Pick<SolanaPorts, 'db' | 'chain' | 'sender'>,
  lease: Lease,
  { payout, order, finalHeight }: { payout: Payout; order: SolanaTransferOrder; finalHeight: number },
): Promise<Transaction | undefined> {
  const { id, asset, amount, address, minConfirmations } = payout;
  const signed = await sender.signTransfer(order);
  const stored = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    const moved = await movePayout(trx, id, ['reserved'], 'signed');
    if (moved === undefined) return undefined;
    await insertWalletOnce(trx, chain, sender.hotAddress, 'hot', null);
    const transaction = await insertSigned(trx, {
      after: undefined,
      chain,
      wallet: sender.hotAddress,
      nonce: null,
      sweptAddress: null,
      asset,
      amount,
      signed,
      minConfirmations,
      fence: lease.token,
      finalHeight,
      validToHeight: signed.validToHeight,
      terms: null,
    });
    await insertPayments(trx, transaction.family, [{ payoutId: id, address, amount, outputIndex: null }]);
    crashPoint('solana.payouts.signing');
    return transaction;
  });
  if (stored !== undefined) crashPoint('solana.payouts.signed');
  return stored;
}
