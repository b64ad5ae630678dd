import type { EvmFees } from '@quittance/chains/chain';
import { crashPoint } from '@quittance/shared/crash';
import { assertLease, type Lease } from '@quittance/shared/lease';
import type { Ports } from '../ports.ts';
import { movePayout, type Payout } from '../store-payouts.ts';
import { signAndStore, type Transaction } from '../store-transactions.ts';

/**
 * Signs a payout's one and only transaction and stores its bytes; nothing has left yet. The holder of a lost
 * lease, and a payout that is no longer waiting, are refused inside the same database transaction.
 */
export async function signPayout(
  { db, sender }: Pick<Ports, 'db' | 'sender'>,
  lease: Lease,
  { payout, gas, fees, finalHeight }: { payout: Payout; gas: bigint; fees: EvmFees; finalHeight: number },
): Promise<Transaction | undefined> {
  const { id, asset, amount, address, minConfirmations } = payout;
  const stored = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    const moved = await movePayout(trx, id, ['reserved'], 'signed');
    if (moved === undefined) return undefined;
    const order = {
      chain: sender.chain,
      wallet: sender.hotAddress,
      asset,
      minConfirmations,
      fence: lease.token,
      finalHeight,
      serves: { payoutId: id },
    };
    const transaction = await signAndStore(trx, order, async (nonce) => ({
      signed: await sender.signTransfer({ asset, to: address, amount, nonce, gas, fees }),
      amount,
    }));
    crashPoint('payouts.signing');
    return transaction;
  });
  if (stored !== undefined) crashPoint('payouts.signed');
  return stored;
}
