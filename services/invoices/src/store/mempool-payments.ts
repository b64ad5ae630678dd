import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import type { MempoolPayment } from '../domain/mempool-payment.ts';

/** Timestamps are texts when the row came inside JSON. */
export type MempoolPaymentRow = {
  outpoint: string;
  invoice_id: InvoiceId;
  asset: AssetSymbol;
  address: string;
  amount: string;
  tx_hash: string;
  output_index: number;
  first_seen_at: Date | string;
  gone_at: Date | string | null;
};

const columns = [
  'outpoint',
  'invoice_id',
  'asset',
  'address',
  'amount',
  'tx_hash',
  'output_index',
  'first_seen_at',
  'gone_at',
] as const satisfies (keyof MempoolPaymentRow)[];

/** A mempool payment as JSON. The amount is text: a JSON number would lose digits. */
export const mempoolPaymentJson = (alias: string): string =>
  `json_build_object(${columns
    .map((column) => `'${column}', ${alias}.${column}${column === 'amount' ? '::text' : ''}`)
    .join(', ')})`;

export const mempoolPaymentOrder = 'first_seen_at, outpoint';

export const toMempoolPayment = (row: MempoolPaymentRow): MempoolPayment => ({
  outpoint: row.outpoint,
  invoiceId: row.invoice_id,
  asset: row.asset,
  address: row.address,
  amount: units(row.amount),
  txHash: row.tx_hash,
  outputIndex: row.output_index,
  firstSeenAt: new Date(row.first_seen_at),
  droppedAt: row.gone_at === null ? null : new Date(row.gone_at),
});

const selectWaiting = statement(
  'sightings_waiting',
  `select ${columns.join(', ')} from sightings where chain = $1 and gone_at is null`,
);

/** The payments that the mempool had at the last read. */
export async function openMempoolPayments(db: Queryable, chain: Chain): Promise<MempoolPayment[]> {
  return (await db.rows<MempoolPaymentRow>(selectWaiting, [chain])).map(toMempoolPayment);
}

// A payment that comes back, or a replaced one with the same outpoint, overwrites the row and keeps the first time.
const upsert = statement(
  'sightings_save',
  `insert into sightings (chain, outpoint, invoice_id, asset, address, amount, tx_hash, output_index, first_seen_at)
   select $1, * from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::text[], $8::int[],
     $9::timestamptz[])
   on conflict (chain, outpoint) do update set
     invoice_id = excluded.invoice_id, asset = excluded.asset, address = excluded.address,
     amount = excluded.amount, gone_at = null,
     first_seen_at = least(sightings.first_seen_at, excluded.first_seen_at)`,
);

export async function saveMempoolPayments(
  trx: Trx,
  chain: Chain,
  seen: readonly Omit<MempoolPayment, 'droppedAt'>[],
): Promise<void> {
  if (seen.length === 0) return;
  await trx.rows(upsert, [
    chain,
    seen.map(({ outpoint }) => outpoint),
    seen.map(({ invoiceId }) => invoiceId),
    seen.map(({ asset }) => asset),
    seen.map(({ address }) => address),
    seen.map(({ amount }) => amount),
    seen.map(({ txHash }) => txHash),
    seen.map(({ outputIndex }) => outputIndex),
    seen.map(({ firstSeenAt }) => firstSeenAt),
  ]);
}

const updateDropped = statement(
  'sightings_gone',
  `update sightings set gone_at = $3 where chain = $1 and outpoint = any($2::text[]) and gone_at is null`,
);

export async function markDropped(
  trx: Trx,
  chain: Chain,
  outpoints: readonly string[],
  now: Date,
): Promise<void> {
  if (outpoints.length > 0) await trx.rows(updateDropped, [chain, outpoints, now]);
}

const deleteMined = statement(
  'sightings_end',
  `delete from sightings where chain = $1 and outpoint = any($2::text[])
   returning outpoint, first_seen_at as "firstSeenAt"`,
);

/** Deletes mempool payments that are in a block now. @returns when each was first seen */
export async function endMempoolPayments(
  trx: Trx,
  chain: Chain,
  outpoints: readonly string[],
): Promise<Map<string, Date>> {
  const rows = await trx.rows<{ outpoint: string; firstSeenAt: Date }>(deleteMined, [chain, outpoints]);
  return new Map(rows.map(({ outpoint, firstSeenAt }) => [outpoint, firstSeenAt]));
}
