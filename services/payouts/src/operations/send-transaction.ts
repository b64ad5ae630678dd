import { crashPoint } from '@quittance/shared/crash';
import type { Ports } from '../ports.ts';
import { movePayout } from '../store-payouts.ts';
import { moveTransaction, noteSent, type Transaction } from '../store-transactions.ts';

/**
 * Sends signed bytes that are stored, for the first time or again. Only a node's yes is believed: anything else
 * leaves open whether they are on their way, and they are sent again until they are in a block.
 */
export async function sendTransaction(
  { db, sender, clock, notices, logger }: Pick<Ports, 'db' | 'sender' | 'clock' | 'notices' | 'logger'>,
  transaction: Transaction,
): Promise<void> {
  const { id, purpose, payoutId, txHash, wallet, nonce, raw } = transaction;
  const answer = await sender.broadcast(raw);
  crashPoint(`${purpose}s.sent`);
  const now = clock.now();
  await db.transaction(async (trx) => {
    await noteSent(trx, id, now);
    if (answer !== 'accepted') return;
    const moved = await moveTransaction(trx, id, ['signed'], 'broadcast');
    if (moved !== undefined && payoutId !== null) {
      await movePayout(trx, payoutId, ['signed'], 'broadcast', { txHash });
    }
  });
  crashPoint(`${purpose}s.broadcast`);
  const said = { transaction: txHash, payout: payoutId, wallet, nonce, answer };
  if (answer === 'accepted') logger.debug(said, 'sent');
  else
    notices.say(
      'warn',
      `broadcast.${wallet}.${answer}`,
      said,
      'the node has not taken a transaction, sending the same bytes again',
    );
}
