import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { type Deposit, type DepositState, type Disposition, onDrop } from '../domain/deposit.ts';
import { isHeld } from './contradictions.ts';

/** Timestamps are texts when the row came inside JSON. */
export type DepositRow = {
  id: DepositId;
  outpoint: string;
  invoice_id: InvoiceId;
  asset: AssetSymbol;
  address: string;
  derivation_index: number;
  amount: string;
  tx_hash: string | null;
  output_index: number;
  block_height: number;
  block_hash: string;
  first_seen_at: Date | string;
  min_confirmations: number;
  state: DepositState;
  dropped_height: number | null;
  confirmed_at: Date | string | null;
  disposition: Disposition | null;
  credited_at: Date | string | null;
  is_held: boolean;
};

const depositColumns = [
  'id',
  'outpoint',
  'invoice_id',
  'asset',
  'address',
  'derivation_index',
  'amount',
  'tx_hash',
  'output_index',
  'block_height',
  'block_hash',
  'first_seen_at',
  'min_confirmations',
  'state',
  'dropped_height',
  'confirmed_at',
  'disposition',
  'credited_at',
] as const satisfies (keyof DepositRow)[];

/** The columns of a deposit. */
export const depositFields = (alias: string): string =>
  [...depositColumns.map((column) => `${alias}.${column}`), `${isHeld(alias)} as is_held`].join(', ');

/** A deposit as JSON. The amount is text: a JSON number would lose digits. */
export const depositJson = (alias: string): string =>
  `json_build_object(${depositColumns
    .map((column) => `'${column}', ${alias}.${column}${column === 'amount' ? '::text' : ''}`)
    .join(', ')}, 'is_held', ${isHeld(alias)})`;

/** In the order of arrival; within a block in its order. */
export const depositOrder = 'first_seen_at, block_height, output_index, id';

const time = (given: Date | string): Date => (given instanceof Date ? given : new Date(given));
const timeOrNull = (given: Date | string | null): Date | null => (given === null ? null : time(given));

export const toDeposit = (row: DepositRow): Deposit => ({
  id: row.id,
  outpoint: row.outpoint,
  invoiceId: row.invoice_id,
  asset: row.asset,
  address: row.address,
  derivationIndex: row.derivation_index,
  amount: units(row.amount),
  txHash: row.tx_hash,
  outputIndex: row.output_index,
  blockHeight: row.block_height,
  blockHash: row.block_hash,
  firstSeenAt: time(row.first_seen_at),
  minConfirmations: row.min_confirmations,
  state: row.state,
  droppedHeight: row.dropped_height,
  confirmedAt: timeOrNull(row.confirmed_at),
  disposition: row.disposition,
  creditedAt: timeOrNull(row.credited_at),
  isHeld: row.is_held,
});

const selectByOutpoint = statement(
  'deposits_by_outpoint',
  `select ${depositFields('d')} from deposits d
   where chain = $1 and outpoint = any($2::text[]) and state in ('seen', 'settled')
   union all
   select ${depositFields('d')} from deposits d
   where chain = $1 and outpoint = any($2::text[]) and state not in ('seen', 'settled')`,
);

/** All deposits with these outpoints, in the chain or not. */
export async function depositsByOutpoint(
  db: Queryable,
  chain: Chain,
  outpoints: readonly string[],
): Promise<Map<string, Deposit[]>> {
  const rows = await db.rows<DepositRow>(selectByOutpoint, [chain, outpoints]);
  return Map.groupBy(rows.map(toDeposit), (deposit) => deposit.outpoint);
}

const insertNew = statement(
  'deposits_insert',
  `insert into deposits (chain, id, outpoint, invoice_id, asset, address, derivation_index, amount, tx_hash,
     output_index, block_height, block_hash, first_seen_at, min_confirmations, state, due_height)
   select $1, u.*, 'seen', u.block_height + u.min_confirmations - 1
   from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::numeric[],
     $9::text[], $10::int[], $11::int[], $12::text[], $13::timestamptz[], $14::int[])
     as u(id, outpoint, invoice_id, asset, address, derivation_index, amount, tx_hash, output_index,
       block_height, block_hash, first_seen_at, min_confirmations)`,
);

export type NewDeposit = Omit<
  Deposit,
  'state' | 'droppedHeight' | 'confirmedAt' | 'disposition' | 'creditedAt' | 'isHeld'
>;

export async function insertDeposits(trx: Trx, chain: Chain, deposits: readonly NewDeposit[]): Promise<void> {
  if (deposits.length === 0) return;
  await trx.rows(insertNew, [
    chain,
    deposits.map((deposit) => deposit.id),
    deposits.map((deposit) => deposit.outpoint),
    deposits.map((deposit) => deposit.invoiceId),
    deposits.map((deposit) => deposit.asset),
    deposits.map((deposit) => deposit.address),
    deposits.map((deposit) => deposit.derivationIndex),
    deposits.map((deposit) => deposit.amount),
    deposits.map((deposit) => deposit.txHash),
    deposits.map((deposit) => deposit.outputIndex),
    deposits.map((deposit) => deposit.blockHeight),
    deposits.map((deposit) => deposit.blockHash),
    deposits.map((deposit) => deposit.firstSeenAt),
    deposits.map((deposit) => deposit.minConfirmations),
  ]);
}

const updateReturned = statement(
  'deposits_return',
  `update deposits d set
     state = u.state, block_height = u.block_height, block_hash = u.block_hash, dropped_height = null,
     first_seen_at = u.first_seen_at,
     due_height = case when u.state = 'seen' then u.block_height + d.min_confirmations - 1 end
   from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::timestamptz[])
     as u(id, state, block_height, block_hash, first_seen_at)
   where d.id = u.id`,
);

/** Saves that dropped or missing deposits are in a block again. */
export async function returnDeposits(
  trx: Trx,
  returned: readonly {
    id: DepositId;
    state: 'seen' | 'settled';
    blockHeight: number;
    blockHash: string;
    firstSeenAt: Date;
  }[],
): Promise<void> {
  if (returned.length === 0) return;
  await trx.rows(updateReturned, [
    returned.map(({ id }) => id),
    returned.map(({ state }) => state),
    returned.map(({ blockHeight }) => blockHeight),
    returned.map(({ blockHash }) => blockHash),
    returned.map(({ firstSeenAt }) => firstSeenAt),
  ]);
}

// Deposits above the height, and those below it that the dropped blocks made final.
const selectAffected = statement(
  'deposits_affected_by_drop',
  `select distinct invoice_id from deposits
   where chain = $1 and block_height > $2 - 10000 and state in ('seen', 'settled')
     and (block_height > $2 or (state = 'seen' and block_height + min_confirmations - 1 > $2))`,
);

/** The invoices that change when the blocks above `height` are dropped. */
export async function invoicesAbove(trx: Trx, chain: Chain, height: number): Promise<InvoiceId[]> {
  const rows = await trx.rows<{ invoice_id: InvoiceId }>(selectAffected, [chain, height]);
  return rows.map((row) => row.invoice_id);
}

const dropAbove = statement(
  'deposits_drop',
  `update deposits set
     state = case state when 'seen' then '${onDrop.seen}' else '${onDrop.settled}' end,
     dropped_height = $3, due_height = $3 + min_confirmations
   where chain = $1 and block_height > $2 and state in ('seen', 'settled')`,
);

const rescheduleBelow = statement(
  'deposits_reschedule',
  `update deposits set due_height = block_height + min_confirmations - 1
   where chain = $1 and block_height <= $2 and block_height > $2 - 10000 and state = 'seen'
     and block_height + min_confirmations - 1 > $2`,
);

/** Drops the deposits of the blocks above `height`; the cursor was at `top`. */
export async function dropDeposits(trx: Trx, chain: Chain, height: number, top: number): Promise<void> {
  await trx.rows(dropAbove, [chain, height, top]);
  await trx.rows(rescheduleBelow, [chain, height]);
}

const selectDue = statement(
  'deposits_due',
  `select distinct invoice_id from deposits where chain = $1 and due_height > $2 and due_height <= $3`,
);

/** The invoices with a deposit that becomes final or is given up between the heights `below` and `height`. */
export async function invoicesDue(
  db: Queryable,
  chain: Chain,
  below: number,
  height: number,
): Promise<InvoiceId[]> {
  const rows = await db.rows<{ invoice_id: InvoiceId }>(selectDue, [chain, below, height]);
  return rows.map((row) => row.invoice_id);
}

const selectOverdue = statement(
  'deposits_left_due',
  `select invoice_id from deposits where chain = $1 and due_height <= $2
   group by invoice_id order by min(due_height), invoice_id limit $3`,
);

/** Invoices with a deposit that was due at this height or below, the longest waiting first. */
export async function overdueInvoices(
  db: Queryable,
  chain: Chain,
  height: number,
  limit: number,
): Promise<InvoiceId[]> {
  const rows = await db.rows<{ invoice_id: InvoiceId }>(selectOverdue, [chain, height, limit]);
  return rows.map((row) => row.invoice_id);
}

const updateCredited = statement(
  'deposits_credited',
  `update deposits set credited_at = coalesce(credited_at, $2)
   where id = any($1::text[]) and settled_at is not null
   returning 1`,
);

/** Marks deposits as credited by the ledger. @returns how many of them are settled deposits */
export async function markCredited(trx: Trx, ids: readonly DepositId[], now: Date): Promise<number> {
  return (await trx.rows(updateCredited, [ids, now])).length;
}

const updateFirstSeen = statement(
  'deposits_sighted',
  `update deposits d set first_seen_at = least(d.first_seen_at, u.seen_at)
   from unnest($2::text[], $3::timestamptz[]) as u(outpoint, seen_at)
   where d.chain = $1 and d.outpoint = u.outpoint and d.state in ('seen', 'settled')`,
);

/** Sets an earlier first sight of deposits. */
export async function setEarlierFirstSeen(
  trx: Trx,
  chain: Chain,
  sighted: readonly { outpoint: string; firstSeenAt: Date }[],
): Promise<void> {
  if (sighted.length === 0) return;
  const outpoints = sighted.map(({ outpoint }) => outpoint);
  const times = sighted.map(({ firstSeenAt }) => firstSeenAt);
  await trx.rows(updateFirstSeen, [chain, outpoints, times]);
}
