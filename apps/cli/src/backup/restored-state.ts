import { assetSymbols } from '@quittance/shared/assets';
import type { Service } from '@quittance/shared/events';
import type pg from 'pg';

/** Addresses that customers were given since the backup are among these, and customers may still pay to them. */
const ADDRESS_BLOCKS_LEFT_OUT = 10_000;
/** On Solana, whose addresses come one by one. */
const ADDRESSES_LEFT_OUT = 320_000;

/** What the auditor and the command show as the reason of the pause. */
const pauseReason = (by: string, from: string): string =>
  `restored from ${from}: run \`quittance restore --check\` (${by})`;

/**
 * Halts the payouts of every asset, in the records of the auditor and in those of payouts at once: payouts signs nothing before it
 * could be told. The transaction is that of the restore.
 */
export async function pauseAllPayouts(client: pg.Client, by: string, from: string): Promise<void> {
  // Payouts takes no halt for new whose number is lower than that of another.
  await client.query(
    `select setval('auditor.halts_seq_seq', greatest(
       (select coalesce(max(halt), 0) from payouts.halted_assets), (select coalesce(max(seq), 0) from auditor.halts), 1))`,
  );
  const reason = JSON.stringify([{ invariant: 'operator', what: pauseReason(by, from) }]);
  await client.query(
    `with halted as (
       insert into auditor.halts as h (asset, discrepancies, halted_at)
       select asset, $2::jsonb, now() from unnest($1::text[]) as asset
       on conflict (asset) where resumed_at is null do update set discrepancies = h.discrepancies || excluded.discrepancies
       returning asset, seq)
     insert into payouts.halted_assets as p (asset, halt, halted_at) select asset, seq, now() from halted
     on conflict (asset) do update set halt = greatest(p.halt, excluded.halt), halted_at = excluded.halted_at, resumed_at = null`,
    [assetSymbols, reason],
  );
}

/** Customers have addresses that the backup does not know: none of them may be given to somebody else. */
export async function leaveOutAddresses(client: pg.Client, services: readonly Service[]): Promise<void> {
  if (!services.includes('invoices')) return;
  for (const sequence of ['bitcoin_address_blocks', 'ethereum_address_blocks'])
    await client.query(
      `select setval($1::regclass, last_value + $2, true) from invoices.${sequence} where is_called`,
      [`invoices.${sequence}`, ADDRESS_BLOCKS_LEFT_OUT],
    );
  await client.query('delete from invoices.address_pool');
  await client.query('update invoices.address_series set next_index = next_index + $1', [ADDRESSES_LEFT_OUT]);
}
