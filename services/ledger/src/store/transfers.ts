import type { AssetSymbol } from '@quittance/shared/assets';
import { bulk, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { MerchantBucket, Op, Posting } from '../domain/posting.ts';

/** A balance's key: one account, one asset. */
export type BalanceKey = { account: AccountId; asset: AssetSymbol };

const balanceKeys = bulk({ account: 'account_id text', asset: 'text' });

const openMissing = statement(
  'balances_open_missing',
  `insert into balances (account_id, asset)
   select distinct account_id, asset from ${balanceKeys.from('wanted')}
   where not exists (select from balances b where (b.account_id, b.asset) = (wanted.account_id, wanted.asset))
   order by account_id, asset on conflict do nothing`,
);

export type Balance = BalanceKey & Record<MerchantBucket, Units>;

const lock = query<Balance>(
  'balances_lock',
  `select account_id as account, asset, available, held, unresolved from balances
   where (account_id, asset) in (select * from ${balanceKeys.from('wanted')})
   order by account_id, asset for no key update`,
);

/**
 * Locks these balances, all of them and in one order, so that no two transactions wait for each other;
 * those that are missing are opened with zero first. Call it once, before anything else is locked.
 */
export async function lockBalances(trx: Trx, keys: readonly BalanceKey[]): Promise<Balance[]> {
  const values = balanceKeys.values(keys);
  await trx.rows(openMissing, values);
  return await trx.rows(lock, values);
}

/** The rate of an asset when it is booked, as SQL; null where the sources have told none for ten minutes. */
export const rateNow = (asset: string): string =>
  `(select usd_rate from quotes where quotes.asset = ${asset} and as_of > now() - interval '10 minutes')`;

const postingRows = bulk({
  op: 'text',
  kind: 'text',
  account: 'account_id text',
  asset: 'text',
  amount: 'numeric',
  networkFee: 'numeric',
  detail: 'text',
});
const entryRows = bulk({ n: 'int', bucket: 'text', amount: 'numeric' }, 8);

// `n` is a posting's place in the arguments. What is known by its op is left out, with its entries.
const insertPostings = statement(
  'postings_insert',
  `with asked as (
     select * from ${postingRows.numbered('t', 'n')}),
   booked as (
     insert into transfers (op, kind, account_id, asset, amount, network_fee, detail, usd_rate)
     select op, kind, account_id, asset, amount, network_fee, detail, ${rateNow('asked.asset')} from asked order by op
     on conflict (op) do nothing
     returning seq, op),
   sides as (
     select b.seq, a.account_id, e.bucket, a.asset, e.amount
     from ${entryRows.from('e')}
     join asked a using (n) join booked b using (op)),
   written as (
     insert into entries (transfer_seq, account_id, bucket, asset, amount)
     select seq, case when bucket in ('available', 'held', 'unresolved') then account_id end, bucket, asset, amount
     from sides order by seq),
   changes as (
     select account_id, asset,
       coalesce(sum(amount) filter (where bucket = 'available'), 0) as available,
       coalesce(sum(amount) filter (where bucket = 'held'), 0) as held,
       coalesce(sum(amount) filter (where bucket = 'unresolved'), 0) as unresolved
     from sides where account_id is not null group by account_id, asset),
   changed as (
     update balances b set
       available = b.available + c.available, held = b.held + c.held, unresolved = b.unresolved + c.unresolved
     from changes c where b.account_id = c.account_id and b.asset = c.asset
     returning 1)
   select (select coalesce(array_agg(op), '{}') from booked) as ops,
     (select count(*) from changes) = (select count(*) from changed) as complete`,
);

type Booked = Pick<Posting, 'op' | 'account' | 'asset' | 'amount' | 'networkFee' | 'detail'>;

const selectBooked = query<Booked>(
  'transfers_booked',
  `select op, account_id as account, asset, amount, network_fee, detail from transfers where op = any($1::text[])`,
);

/** The same op with other contents: a defect of whoever sent it, never booked and never passed over. */
export class OtherContents extends Error {
  constructor(what: string) {
    super(`${what} was decided before with other contents`);
    this.name = 'OtherContents';
  }
}

/**
 * Books transfers, their entries and their effect on the balances, which must be locked. What was booked
 * before is left as it is.
 * @returns the ops that were booked now.
 */
export async function book(trx: Trx, postings: readonly Posting[]): Promise<Set<Op>> {
  if (postings.length === 0) return new Set();
  const once = new Map<Op, Posting>();
  for (const posting of postings) {
    const first = once.get(posting.op);
    if (first !== undefined && !isSame(first, posting)) throw new OtherContents(posting.op);
    once.set(posting.op, posting);
  }
  const list = [...once.values()];
  const sides = list.flatMap(({ entries }, i) => entries.map((entry) => ({ n: i + 1, ...entry })));
  const { ops, complete } = await trx.one<{ ops: Op[]; complete: boolean }>(insertPostings, [
    ...postingRows.values(list),
    ...entryRows.values(sides),
  ]);
  invariant(complete, 'every balance that a posting changes is there');
  const booked = new Set(ops);
  const known = list.filter(({ op }) => !booked.has(op));
  if (known.length > 0) await assertSame(trx, known);
  return booked;
}

async function assertSame(trx: Trx, postings: readonly Posting[]): Promise<void> {
  const rows = await trx.rows(selectBooked, [postings.map(({ op }) => op)]);
  const byOp = new Map(rows.map((row) => [row.op, row]));
  for (const posting of postings) {
    const row = byOp.get(posting.op);
    if (row === undefined || !isSame(posting, row)) throw new OtherContents(posting.op);
  }
}

const isSame = (a: Booked, b: Booked): boolean =>
  a.account === b.account &&
  a.asset === b.asset &&
  a.amount === b.amount &&
  a.networkFee === b.networkFee &&
  a.detail === b.detail;
