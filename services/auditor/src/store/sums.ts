import type { Watermarks } from '@quittance/reconciliation/watermarks';
import { statement, type Trx } from '@quittance/shared/db';

const clearSums = statement('sums_clear', 'truncate sums');
const fillSums = statement(
  'sums_fill',
  `insert into sums (account_id, asset, bucket, amount)
   select account_id, asset, bucket, sum(amount) from ledger.entries
   where account_id is not null and transfer_seq <= $1 group by account_id, asset, bucket`,
);
const noteSums = statement(
  'sums_until_note',
  `insert into sums_until (transfer_seq) values ($1)
   on conflict (only_row) do update set transfer_seq = excluded.transfer_seq`,
);

/** Computes the sums of all entries up to a transfer: later checks read only the entries after it. */
export async function rebuildSums(trx: Trx, { transfers }: Watermarks, maxMs: number): Promise<void> {
  await trx.rows(`set local statement_timeout = ${maxMs}`);
  await trx.rows(clearSums);
  await trx.rows(fillSums, [transfers]);
  await trx.rows(noteSums, [transfers]);
}

const advance = statement(
  'sums_advance',
  `insert into sums (account_id, asset, bucket, amount)
   select account_id, asset, bucket, sum(amount) from ledger.entries
   where account_id is not null and transfer_seq > (select u.transfer_seq from sums_until u) and transfer_seq <= $1
   group by account_id, asset, bucket
   on conflict (account_id, asset, bucket) do update set amount = sums.amount + excluded.amount`,
);
const noteAdvance = statement(
  'sums_until_advance',
  `update sums_until set transfer_seq = $1 where transfer_seq < $1`,
);

/** Adds the entries of later transfers, so that checks of new rows do not get slower during the day. */
export async function advanceSums(trx: Trx, { transfers }: Watermarks): Promise<void> {
  await trx.rows(advance, [transfers]);
  await trx.rows(noteAdvance, [transfers]);
}
