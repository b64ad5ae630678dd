import type { Watermarks } from '@quittance/reconciliation/watermarks';
import { statement, type Trx } from '@quittance/shared/db';

const clear = statement('balance_snapshots_clear', 'truncate balance_snapshots, custody_snapshots');
const fill = statement(
  'balance_snapshots_fill',
  `insert into balance_snapshots (account_id, asset, bucket, amount)
   select account_id, asset, bucket, sum(amount) from ledger.entries
   where account_id is not null and transfer_seq <= $1 group by account_id, asset, bucket`,
);
const fillCustody = statement(
  'custody_snapshots_fill',
  `insert into custody_snapshots (asset, amount)
   select asset, sum(amount) from ledger.entries where bucket = 'custody' and transfer_seq <= $1 group by asset`,
);
// A number of its own: an auditor of a former release does not sum up custody.
const noteCustody = statement(
  'custody_snapshots_until_note',
  `insert into custody_snapshots_until (transfer_seq) values ($1)
   on conflict (only_row) do update set transfer_seq = excluded.transfer_seq`,
);
const noteTransfer = statement(
  'balance_snapshots_until_note',
  `insert into balance_snapshots_until (transfer_seq) values ($1)
   on conflict (only_row) do update set transfer_seq = excluded.transfer_seq`,
);

/** Computes the sums of all entries up to a transfer: later checks read only the entries after it. */
export async function rebuildBalanceSnapshots(
  trx: Trx,
  { transfers }: Watermarks,
  maxMs: number,
): Promise<void> {
  await trx.rows(`set local statement_timeout = ${maxMs}`);
  await trx.rows(clear);
  await trx.rows(fill, [transfers]);
  await trx.rows(fillCustody, [transfers]);
  await trx.rows(noteTransfer, [transfers]);
  await trx.rows(noteCustody, [transfers]);
}

const advance = statement(
  'balance_snapshots_advance',
  `insert into balance_snapshots (account_id, asset, bucket, amount)
   select account_id, asset, bucket, sum(amount) from ledger.entries
   where account_id is not null and transfer_seq > (select u.transfer_seq from balance_snapshots_until u) and transfer_seq <= $1
   group by account_id, asset, bucket
   on conflict (account_id, asset, bucket) do update set amount = balance_snapshots.amount + excluded.amount`,
);
const advanceCustody = statement(
  'custody_snapshots_advance',
  `insert into custody_snapshots (asset, amount)
   select asset, sum(amount) from ledger.entries
   where bucket = 'custody' and transfer_seq > (select u.transfer_seq from custody_snapshots_until u) and transfer_seq <= $1
   group by asset
   on conflict (asset) do update set amount = custody_snapshots.amount + excluded.amount`,
);
const noteCustodyAdvance = statement(
  'custody_snapshots_until_advance',
  `update custody_snapshots_until set transfer_seq = $1 where transfer_seq < $1`,
);
const noteAdvance = statement(
  'balance_snapshots_until_advance',
  `update balance_snapshots_until set transfer_seq = $1 where transfer_seq < $1`,
);

/** Adds the entries of later transfers, so that checks of new rows do not get slower during the day. */
export async function advanceBalanceSnapshots(trx: Trx, { transfers }: Watermarks): Promise<void> {
  await trx.rows(advance, [transfers]);
  await trx.rows(advanceCustody, [transfers]);
  await trx.rows(noteAdvance, [transfers]);
  await trx.rows(noteCustodyAdvance, [transfers]);
}
