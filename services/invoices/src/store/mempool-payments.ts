import type { Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { MempoolPayment } from '../domain/mempool-payment.ts';
import { jsonOf } from './deposits.ts';

const seenPayments = bulk({
  outpoint: 'text',
  invoiceId: 'text',
  asset: 'text',
  address: 'text',
  amount: 'numeric',
  txHash: 'text',
  outputIndex: 'int',
  firstSeenAt: 'timestamptz',
});

const columns = `${seenPayments.columns}, dropped_at`;

export const mempoolPaymentJson = (alias: string): string => `json_build_object(${jsonOf(alias, columns)})`;

export const mempoolPaymentOrder = 'first_seen_at, outpoint';

const selectOpen = query<MempoolPayment>(
  'mempool_payments_open',
  `select ${columns} from mempool_payments where chain = $1 and dropped_at is null`,
);

/** The payments that the mempool had at the last read. */
export const openMempoolPayments = (db: Queryable, chain: Chain): Promise<MempoolPayment[]> =>
  db.rows(selectOpen, [chain]);

// A payment that comes back, or a replaced one with the same outpoint, overwrites the row and keeps the first time.
const upsert = statement(
  'mempool_payments_save',
  `insert into mempool_payments (${seenPayments.columns}, chain)
   select seen.*, $9 from ${seenPayments.from('seen')}
   on conflict (chain, outpoint) do update set
     invoice_id = excluded.invoice_id, asset = excluded.asset, address = excluded.address,
     amount = excluded.amount, dropped_at = null,
     first_seen_at = least(mempool_payments.first_seen_at, excluded.first_seen_at)`,
);

export async function saveMempoolPayments(
  trx: Trx,
  chain: Chain,
  seen: readonly Omit<MempoolPayment, 'droppedAt'>[],
): Promise<void> {
  if (seen.length > 0) await trx.rows(upsert, [...seenPayments.values(seen), chain]);
}

const updateDropped = statement(
  'mempool_payments_dropped',
  `update mempool_payments set dropped_at = $3 where chain = $1 and outpoint = any($2::text[]) and dropped_at is null`,
);

export async function markDropped(
  trx: Trx,
  chain: Chain,
  outpoints: readonly string[],
  now: Date,
): Promise<void> {
  if (outpoints.length > 0) await trx.rows(updateDropped, [chain, outpoints, now]);
}

const deleteMined = query<Pick<MempoolPayment, 'outpoint' | 'firstSeenAt'>>(
  'mempool_payments_end',
  `delete from mempool_payments where chain = $1 and outpoint = any($2::text[])
   returning outpoint, first_seen_at`,
);

/** Deletes mempool payments that are in a block now. @returns when each was first seen */
export async function endMempoolPayments(
  trx: Trx,
  chain: Chain,
  outpoints: readonly string[],
): Promise<Map<string, Date>> {
  const rows = await trx.rows(deleteMined, [chain, outpoints]);
  return new Map(rows.map(({ outpoint, firstSeenAt }) => [outpoint, firstSeenAt]));
}
