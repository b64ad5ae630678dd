import type { Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import { onDrop } from '../domain/deposit.ts';
import { isHeld } from './deposits.ts';

/** A payment that the node reported in a block, while it is recorded in another one. */
export type Contradiction = {
  blockHash: string;
  blockHeight: number;
  outpoint: string;
  /** Both are null for a native transfer out of an address. */
  depositId: DepositId | null;
  invoiceId: InvoiceId | null;
};

// With an open contradiction, the payments of an address are uncertain, so its balance is not checked. A settled
// payment stands, whatever the node reports later.
export const notContradicted = `not exists (
       select 1 from contradictions c
       where c.chain = a.chain and c.invoice_id = a.invoice_id and c.ended_at is null
         and not exists (select 1 from deposits d where d.id = c.deposit_id and d.settled_at is not null))`;

const foundContradictions = bulk({
  blockHash: 'text',
  blockHeight: 'int',
  outpoint: 'text',
  depositId: 'text',
  invoiceId: 'text',
});

const insertFound = statement(
  'contradictions_insert',
  `insert into contradictions (block_hash, block_height, outpoint, deposit_id, invoice_id, chain, found_at, check_at)
   select u.*, $6, $7, $7 from ${foundContradictions.from('u')}
   on conflict on constraint contradictions_once do update
   set ended_at = null, outcome = null, check_at = excluded.check_at,
     deposit_id = excluded.deposit_id, invoice_id = excluded.invoice_id`,
);

/** Saves contradictions, each once. While they are open, their deposits are held (see `isHeld`). */
export async function saveContradictions(
  trx: Trx,
  chain: Chain,
  given: readonly Contradiction[],
  now: Date,
): Promise<void> {
  if (given.length === 0) return;
  const found = new Map(given.map((one) => [`${one.blockHash} ${one.outpoint}`, one]));
  await trx.rows(insertFound, [...foundContradictions.values([...found.values()]), chain, now]);
}

const claimDue = query<Contradiction>(
  'contradictions_claim',
  `update contradictions set check_at = $2::timestamptz + $3::int * interval '1 millisecond'
   where (chain, block_hash, outpoint) in (
     select chain, block_hash, outpoint from contradictions
     where chain = $1 and ended_at is null and check_at <= $2 order by check_at, outpoint limit 1)
   returning ${foundContradictions.columns}`,
);

/** Claims the next contradiction to check again, and schedules the one after it `againMs` later. */
export const claimContradiction = (
  db: Queryable,
  chain: Chain,
  now: Date,
  againMs: number,
): Promise<Contradiction | undefined> => db.maybe(claimDue, [chain, now, againMs]);

const selectAbove = query<{ id: InvoiceId }>(
  'contradictions_above',
  `select distinct invoice_id as id from contradictions
   where chain = $1 and ended_at is null and block_height > $2 and invoice_id is not null`,
);

/** The invoices with open contradictions above `height`. */
export async function contradictedAbove(trx: Trx, chain: Chain, height: number): Promise<InvoiceId[]> {
  return (await trx.rows(selectAbove, [chain, height])).map(({ id }) => id);
}

// Deposits that became final while they were held are due again.
const updateDueAgain = statement(
  'deposits_due_when_held_no_more',
  `update deposits d set due_height = d.block_height + d.min_confirmations - 1
   where d.id = any($1::text[]) and d.state = 'seen' and not ${isHeld('d')}`,
);

async function makeDue(trx: Trx, ids: readonly DepositId[]): Promise<void> {
  if (ids.length > 0) await trx.rows(updateDueAgain, [ids]);
}

const endAbove = query<Pick<Contradiction, 'depositId'>>(
  'contradictions_end_above',
  `update contradictions set ended_at = $3, outcome = 'reorganised'
   where chain = $1 and ended_at is null and block_height > $2
   returning deposit_id`,
);

/** Ends the contradictions whose blocks above `height` have left the chain: the recorded payments stand. */
export async function endContradictionsAbove(
  trx: Trx,
  chain: Chain,
  height: number,
  now: Date,
): Promise<void> {
  const ended = await trx.rows(endAbove, [chain, height, now]);
  const ids = ended.flatMap(({ depositId }) => depositId ?? []);
  await makeDue(trx, ids);
}

const endOne = statement(
  'contradictions_end',
  `update contradictions set ended_at = $4, outcome = $5
   where chain = $1 and block_hash = $2 and outpoint = $3 and ended_at is null`,
);

export async function endContradiction(
  trx: Trx,
  chain: Chain,
  { blockHash, outpoint, depositId }: Contradiction,
  outcome: 'earlier' | 'later' | 'reorganised',
  now: Date,
): Promise<void> {
  await trx.rows(endOne, [chain, blockHash, outpoint, now, outcome]);
  if (depositId !== null) await makeDue(trx, [depositId]);
}

const dropOne = statement(
  'deposits_drop_one',
  `update deposits set
     state = case state when 'seen' then '${onDrop.seen}' else '${onDrop.settled}' end,
     dropped_height = $2, due_height = $2 + min_confirmations
   where id = $1 and state in ('seen', 'settled')`,
);

// Its balance was explained with a payment that did not exist: it is checked again from the beginning.
const updateBalanceUnknown = statement(
  'addresses_balance_unknown',
  `update addresses a set balance_check_at = $2, balance_height = null, balance_before = null
   from deposits d
   where d.id = $1 and a.chain = d.chain and a.address = d.address and a.balance_height is not null`,
);

/** Drops a deposit that its block never had; the cursor is at `height`. */
export async function dropDeposit(trx: Trx, id: DepositId, height: number, now: Date): Promise<void> {
  await trx.rows(dropOne, [id, height]);
  await trx.rows(updateBalanceUnknown, [id, now]);
}

export type OpenContradiction = Omit<Contradiction, 'blockHash' | 'depositId'> & {
  chain: Chain;
  /** The deposit is settled, so it is no longer held. */
  isBooked: boolean;
};

const selectOpen = query<OpenContradiction>(
  'contradictions_open',
  `select c.chain, c.outpoint, c.block_height, c.invoice_id, d.settled_at is not null as is_booked
   from contradictions c left join deposits d on d.id = c.deposit_id
   where c.ended_at is null order by c.chain, c.found_at, c.outpoint limit $1`,
);

/** The oldest open contradictions. */
export const openContradictions = (db: Queryable, limit: number): Promise<OpenContradiction[]> =>
  db.rows(selectOpen, [limit]);
