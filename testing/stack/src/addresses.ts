import { setTimeout as sleep } from 'node:timers/promises';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';

const WITHIN_MS = 60_000;
const ASK_EVERY_MS = 50;

/**
 * Waits until invoices have been handed their first Solana addresses, which only the signer can derive, and the signer
 * has said that it has the keys of the others: both have just been started. Until then an invoice is answered with 503.
 * @param settings those of invoices
 */
export async function untilAddresses(
  adminUrl: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const isOn = (chain: string) => (settings[`${chain}_RPC_URL`] ?? '') !== '';
  const derived = Object.keys(settings).flatMap((name) => {
    const [, chain] = /^([A-Z]+)_XPUB$/.exec(name) ?? [];
    return chain !== undefined && isOn(chain) ? [chain.toLowerCase()] : [];
  });
  const lacking = `
    select from unnest($1::text[]) as derived(chain)
    where not exists (select from key_comparisons k where k.chain = derived.chain)
    union all
    select where $2 and not exists (select from address_pool where chain = 'solana')`;
  const db = openDb({
    url: adminUrl,
    schema: 'invoices',
    pool: 1,
    logger: createLogger('sandbox', 'error'),
    // All services connect at the same time: on a slow machine Postgres has more to do than the usual limit allows.
    connectWithinMs: WITHIN_MS,
  });
  const deadline = Date.now() + WITHIN_MS;
  try {
    while ((await db.rows(lacking, [derived, isOn('SOLANA')])).length > 0) {
      if (Date.now() > deadline) throw new Error('the signer names no addresses to invoices; see logs');
      await sleep(ASK_EVERY_MS);
    }
  } finally {
    await db.close();
  }
}
