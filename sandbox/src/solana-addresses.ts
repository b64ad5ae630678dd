import { setTimeout as sleep } from 'node:timers/promises';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';

const WITHIN_MS = 30_000;
const ASK_EVERY_MS = 50;

/**
 * Waits until invoices have been handed their first Solana addresses: only payouts can derive them, and both have just
 * been started. Until then an invoice in SOL is answered with 503.
 */
export async function untilSolanaAddresses(adminUrl: string): Promise<void> {
  const db = openDb({ url: adminUrl, schema: 'invoices', pool: 1, logger: createLogger('sandbox', 'error') });
  const deadline = Date.now() + WITHIN_MS;
  try {
    while ((await db.rows(`select from spare_addresses where chain = 'solana' limit 1`)).length === 0) {
      if (Date.now() > deadline) throw new Error('invoices were handed no Solana addresses; see logs');
      await sleep(ASK_EVERY_MS);
    }
  } finally {
    await db.close();
  }
}
