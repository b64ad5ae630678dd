import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import type { SolanaReserves } from './chain-nodes.ts';

/** For fees and rent, and for payouts that are larger than what came in. */
const FLOAT_LAMPORTS = 100n * 10n ** 9n;

/**
 * The Solana node keeps nothing over a restart: its chain is new whenever the sandbox starts, and all money that was
 * on it is gone. So that the books stay true, the rows that speak of the old chain are closed or removed, and the
 * hot wallet of the new one is given what the books say we owe.
 */
export async function forgetSolanaChain(adminUrl: string): Promise<SolanaReserves> {
  const db = openDb({ url: adminUrl, schema: 'public', pool: 1, logger: createLogger('sandbox', 'error') });
  try {
    return await db.transaction(async (trx) => {
      const owed = await trx.rows<{ asset: string; amount: string }>(
        `select asset, sum(available + held + unresolved)::text as amount from ledger.balances
         where asset in ('SOL', 'USDC_SOL') group by asset`,
      );
      const of = (asset: string) => BigInt(owed.find((row) => row.asset === asset)?.amount ?? '0');
      await trx.rows(`delete from invoices.cursors where chain = 'solana'`);
      await trx.rows(`delete from invoices.blocks where chain = 'solana'`);
      return { lamports: FLOAT_LAMPORTS + of('SOL'), usdc: of('USDC_SOL') };
    });
  } finally {
    await db.close();
  }
}
