import type { EvmFees } from '@quittance/chains/chain';
import { crashPoint } from '@quittance/shared/crash';
import { assertLease, type Lease } from '@quittance/shared/lease';
import type { EvmPorts } from '../../ports.ts';
import { insertPayments } from '../../store-payments.ts';
import { movePayout, type Payout } from '../../store-payouts.ts';
import type { Transaction } from '../../store-transactions.ts';
import { signWithNextNonce } from './sign-with-nonce.ts';

/**
 * Signs a payout's first transaction and stores its bytes; nothing has left yet. Every later attempt has its nonce. The
 * holder of a lost lease, and a payout that is no longer waiting, are refused inside the same database transaction.
 */
export async function signPayout(
  { db, chain, sender }: Pick<EvmPorts, 'db' | 'chain' | 'sender'>,
  lease: Lease,
  { payout, gas, fees, finalHeight }: { payout: Payout; gas: bigint; fees: EvmFees; finalHeight: number },
): Promise<Transaction | undefined> {
  const { id, asset, amount, address, minConfirmations } = payout;
  const stored = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    const moved = await movePayout(trx, id, ['reserved'], 'signed');
    if (moved === undefined) return undefined;
    const order = {
      chain,
      wallet: sender.hotAddress,
      asset,
      minConfirmations,
      fence: lease.token,
      finalHeight,
      sweptAddress: null,
    };
    const transaction = await signWithNextNonce(trx, order, async (nonce) => ({
      signed: await sender.signTransfer({ asset, to: address, amount, nonce, gas, fees }),
      amount,
      terms: { gas, fees },
    }));
    if (transaction === undefined) return undefined;
    await insertPayments(trx, transaction.family, [{ payoutId: id, address, amount, outputIndex: null }]);
    crashPoint('evm.payouts.signing');
    return transaction;
  });
  if (stored !== undefined) crashPoint('evm.payouts.signed');
  return stored;
}
