import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import type { SolanaReserves } from './chain-nodes.ts';

/** For fees and rent, and for payouts that are larger than what came in. */
const FLOAT_LAMPORTS = 100n * 10n ** 9n;

/** What we owe: in balances, and of settled deposits on their way to them. */
const owedSql = `
  select asset, sum(amount)::text as amount from (
    select asset, available + held + unresolved as amount from ledger.balances
    union all
    select asset, amount from invoices.deposits d
    where state = 'settled' and not exists (select 1 from ledger.transfers t where t.op = 'deposit:' || d.id)
  ) as owed where asset in ('SOL', 'USDC_SOL') group by asset`;

/** What the rows of the old chain become, in this order. */
const forgetting = [
  // The scanner starts again with the new chain.
  `delete from invoices.cursors where chain = 'solana'`,
  `delete from invoices.blocks where chain = 'solana'`,
  `update invoices.addresses set given_height = 0 where chain = 'solana'`,
  // What was not final has left the chain, and its invoice is looked at again with the first block.
  `update invoices.deposits set state = 'dropped', dropped_height = 0, due_height = 1
   where chain = 'solana' and state = 'seen'`,
  // Nothing is left to sweep: the hot wallet is given all of it.
  `delete from payouts.unswept_deposits where chain = 'solana'`,
  `update payouts.transactions set final_at = now(), missing_since = null
   where chain = 'solana' and state in ('mined', 'reverted') and final_at is null`,
];

/** What was signed is valid for nothing of the new chain, and a proof of that is looked for from its first block on. */
const outliving = [
  `update payouts.transactions set valid_to_height = 0, final_height_when_signed = $1
   where chain = 'solana' and state in ('signed', 'broadcast')`,
  `update signer.signatures set valid_to_height = 0, final_slot = $1 where chain = 'solana'`,
];

/**
 * The Solana node keeps nothing over a restart: its chain is new whenever the sandbox starts, and all money that was
 * on it is gone. So that the records stay true, the rows that speak of the old chain are closed or removed, and the
 * hot wallet of the new one is to be given what the ledger says we owe.
 */
export function forgetSolanaChain(adminUrl: string): Promise<SolanaReserves> {
  return withDatabase(adminUrl, (db) =>
    db.transaction(async (trx) => {
      const owed = await trx.rows<{ asset: string; amount: string }>(owedSql);
      const of = (asset: string) => BigInt(owed.find((row) => row.asset === asset)?.amount ?? '0');
      for (const sql of forgetting) await trx.rows(sql);
      return { lamports: FLOAT_LAMPORTS + of('SOL'), usdc: of('USDC_SOL') };
    }),
  );
}

/**
 * Lets payouts and the signer prove that what was signed on the old chain can be in no block of the new one, so that it is signed again.
 * A search that began where the old chain stood would find no block until the new one is as old.
 * @param firstSlot of the new chain: its first block need not be at slot 0.
 */
export async function outliveSolanaChain(adminUrl: string, firstSlot: bigint): Promise<void> {
  await withDatabase(adminUrl, async (db) => {
    for (const sql of outliving) await db.rows(sql, [firstSlot.toString()]);
  });
}

async function withDatabase<T>(adminUrl: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = openDb({ url: adminUrl, schema: 'public', pool: 1, logger: createLogger('sandbox', 'error') });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
