import { failpoint } from '@quittance/shared/failpoint';
import type { ChainPorts } from '../ports.ts';
import { showPayoutSent } from '../store/payouts.ts';
import { paymentsOf } from '../store/replacement-groups.ts';
import { moveTransaction, noteSent, type Transaction } from '../store/transactions.ts';

/**
 * Sends stored bytes, for the first time or again. Unless a node accepts them it is unknown whether they arrived, and
 * they are sent again until a block includes them.
 */
export async function sendTransaction(ports: ChainPorts, transaction: Transaction): Promise<void> {
  const { db, kind, chain, sender, clock, throttledLog, logger } = ports;
  const { id, group, purpose, txHash, wallet, nonce, raw } = transaction;
  const answer = await sender.broadcast(raw);
  failpoint(`${kind}.${purpose}s.sent`);
  const now = clock.now();
  await db.transaction(async (trx) => {
    await noteSent(trx, id, now);
    if (answer !== 'accepted') return;
    const moved = await moveTransaction(trx, id, ['signed'], 'broadcast');
    if (moved === undefined) return;
    for (const { payoutId } of await paymentsOf(trx, group)) await showPayoutSent(trx, payoutId, txHash);
  });
  failpoint(`${kind}.${purpose}s.broadcast`);
  const details = { chain, transaction: txHash, group, wallet, nonce, answer };
  if (answer === 'accepted') return logger.debug(details, 'sent');
  const message = 'the node did not accept a transaction, sending the same bytes again';
  throttledLog.log('warn', `broadcast.${wallet}.${answer}`, details, message);
}
