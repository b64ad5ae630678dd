import type { Chain } from '@quittance/shared/assets';
import { bulk, camelCase, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import { type Units, units } from '@quittance/shared/money';
import { type Deposit, onDrop } from '../domain/deposit.ts';

const newDeposits = bulk({
  id: 'text',
  outpoint: 'text',
  invoiceId: 'text',
  asset: 'text',
  address: 'text',
  derivationIndex: 'int',
  amount: 'numeric',
  txHash: 'text',
  outputIndex: 'int',
  blockHeight: 'int',
  blockHash: 'text',
  firstSeenAt: 'timestamptz',
  minConfirmations: 'int',
});

/** A deposit with an open contradiction is held: it is not settled. */
export const isHeld = (alias: string): string =>
  `exists (select from contradictions held
     where held.invoice_id = ${alias}.invoice_id and held.deposit_id = ${alias}.id and held.ended_at is null)`;

const depositColumns = `${newDeposits.columns}, state, dropped_height, confirmed_at, disposition, credited_at`;

/** The columns of a deposit. */
export const depositFields = (alias: string): string =>
  `${depositColumns.replace(/\w+/g, (column) => `${alias}.${column}`)}, ${isHeld(alias)} as is_held`;

/** A row as JSON, by the names of its columns. The amount is text: a JSON number would lose digits. */
export const jsonOf = (alias: string, columns: string): string =>
  columns
    .split(', ')
    .map((name) => `'${camelCase(name)}', ${alias}.${name}${name === 'amount' ? '::text' : ''}`)
    .join(', ');

export const depositJson = (alias: string): string =>
  `json_build_object(${jsonOf(alias, depositColumns)}, 'isHeld', ${isHeld(alias)})`;

/** The columns of which JSON has no type of its own: the compiler asks for all times of a row. */
type TimesOf<T> = { [K in keyof T]: Date extends T[K] ? K : never }[keyof T];

/** A row that was read as JSON, which has no dates and no exact numbers: its amount was written as text. */
export const fromJson =
  <T extends { amount: Units }>(times: { readonly [K in TimesOf<T>]: true }) =>
  (json: object): T =>
    Object.fromEntries(
      Object.entries(json).map(([name, value]) => {
        if (name === 'amount') return [name, units(String(value))];
        return [name, name in times && value !== null ? new Date(String(value)) : value];
      }),
    ) as T;

/** In the order of arrival; within a block in its order. */
export const depositOrder = 'first_seen_at, block_height, output_index, id';

const selectByOutpoint = query<Deposit>(
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
  return Map.groupBy(await db.rows(selectByOutpoint, [chain, outpoints]), ({ outpoint }) => outpoint);
}

const insertNew = statement(
  'deposits_insert',
  `insert into deposits (${newDeposits.columns}, chain, state, due_height)
   select u.*, $14, 'seen', u.block_height + u.min_confirmations - 1 from ${newDeposits.from('u')}`,
);

export type NewDeposit = Omit<
  Deposit,
  'state' | 'droppedHeight' | 'confirmedAt' | 'disposition' | 'creditedAt' | 'isHeld'
>;

export async function insertDeposits(trx: Trx, chain: Chain, deposits: readonly NewDeposit[]): Promise<void> {
  if (deposits.length > 0) await trx.rows(insertNew, [...newDeposits.values(deposits), chain]);
}

const returnedDeposits = bulk({
  id: 'text',
  state: 'text',
  blockHeight: 'int',
  blockHash: 'text',
  firstSeenAt: 'timestamptz',
});

const updateReturned = statement(
  'deposits_return',
  `update deposits d set
     state = u.state, block_height = u.block_height, block_hash = u.block_hash, dropped_height = null,
     first_seen_at = u.first_seen_at,
     due_height = case when u.state = 'seen' then u.block_height + d.min_confirmations - 1 end
   from ${returnedDeposits.from('u')} where d.id = u.id`,
);

export type ReturnedDeposit = Pick<Deposit, 'id' | 'blockHeight' | 'blockHash' | 'firstSeenAt'> & {
  state: 'seen' | 'settled';
};

/** Saves that dropped or missing deposits are in a block again. */
export async function returnDeposits(trx: Trx, returned: readonly ReturnedDeposit[]): Promise<void> {
  if (returned.length > 0) await trx.rows(updateReturned, returnedDeposits.values(returned));
}

type OfInvoice = { invoiceId: InvoiceId };

// Deposits above the height, and those below it that the dropped blocks made final.
const selectAffected = query<OfInvoice>(
  'deposits_affected_by_drop',
  `select distinct invoice_id from deposits
   where chain = $1 and block_height > $2 - 10000 and state in ('seen', 'settled')
     and (block_height > $2 or (state = 'seen' and block_height + min_confirmations - 1 > $2))`,
);

/** The invoices that change when the blocks above `height` are dropped. */
export async function invoicesAbove(trx: Trx, chain: Chain, height: number): Promise<InvoiceId[]> {
  return (await trx.rows(selectAffected, [chain, height])).map(({ invoiceId }) => invoiceId);
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

const selectDue = query<OfInvoice>(
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
  return (await db.rows(selectDue, [chain, below, height])).map(({ invoiceId }) => invoiceId);
}

const selectOverdue = query<OfInvoice>(
  'deposits_left_due',
  `select invoice_id from deposits where chain = $1 and due_height <= (select height from cursors where chain = $1)
   group by invoice_id order by min(due_height), invoice_id limit $2`,
);

/** Invoices with a deposit that was due at the last applied block or below, the longest waiting first. */
export async function overdueInvoices(db: Queryable, chain: Chain, limit: number): Promise<InvoiceId[]> {
  return (await db.rows(selectOverdue, [chain, limit])).map(({ invoiceId }) => invoiceId);
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

const firstSeen = bulk({ outpoint: 'text', firstSeenAt: 'timestamptz' });

const updateFirstSeen = statement(
  'deposits_first_seen',
  `update deposits d set first_seen_at = least(d.first_seen_at, u.first_seen_at)
   from ${firstSeen.from('u')} where d.chain = $3 and d.outpoint = u.outpoint and d.state in ('seen', 'settled')`,
);

/** Deposits were first seen earlier than they say. */
export async function setEarlierFirstSeen(
  trx: Trx,
  chain: Chain,
  seen: readonly { outpoint: string; firstSeenAt: Date }[],
): Promise<void> {
  if (seen.length > 0) await trx.rows(updateFirstSeen, [...firstSeen.values(seen), chain]);
}
