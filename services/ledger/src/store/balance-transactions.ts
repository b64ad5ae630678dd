import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { Currency } from '@quittance/shared/currencies';
import { type Queryable, query, type Selection } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import type { Source } from '../domain/balance-transaction.ts';
import type { MovementSum } from '../domain/statement.ts';

/** A movement of an available balance. */
export type BalanceTransaction = {
  /** Of the transfer. */
  seq: string;
  op: string;
  kind: string;
  detail: string;
  asset: AssetSymbol;
  net: Units;
  networkFee: Units;
  balanceAfter: Units;
  /** Decimal text: see `storedRate`. Null of old transfers. */
  usdRate: string | null;
  /** US dollars for one unit of the wanted currency, in the same form. Null where none was told on that day. */
  currencyRate: string | null;
  invoice: string | null;
  /** The invoice or the unresolved deposit that its payout refunds. */
  refunded: string | null;
  createdAt: Date;
};

/** Which transactions of an account; null where it does not matter. */
export type TransactionFilter = {
  account: AccountId;
  assets: readonly AssetSymbol[];
  kind: string | null;
  reasons: readonly string[] | null;
  isRefund: boolean | null;
  /** The transfers of a source. */
  seqs: readonly string[] | null;
  createdFrom: Date | null;
  /** Not included. */
  createdBefore: Date | null;
  /** What the transactions are valued in. */
  currency: Currency;
};

const valuesOf = ({
  account,
  assets,
  kind,
  reasons,
  seqs,
  createdFrom,
  createdBefore,
  currency,
  isRefund,
}: TransactionFilter) =>
  [account, assets, kind, reasons, seqs, createdFrom, createdBefore, currency, isRefund] as const;

/* What the payout of a hold or a release refunds. A hold of a deposit moves nothing that is available; its release may. */
const refunded = `(select coalesce(h.invoice_id, h.deposit_id) from holds h
  where t.kind in ('hold', 'release') and h.payout_id = split_part(t.op, ':', 2))`;

/* The conditions of a filter, whose values are the first nine. Without a name statements are planned for the values that are given. */
const matches = `($3::text is null or t.kind = $3)
  and ($4::text[] is null or t.detail = any($4))
  and ($5::bigint[] is null or t.seq = any($5))
  and ($6::timestamptz is null or t.created_at >= $6)
  and ($7::timestamptz is null or t.created_at < $7)
  and ($9::bool is null or (${refunded} is not null) = $9)`;

const shown = `t.seq, t.op, t.kind, t.detail, t.asset, t.network_fee, t.usd_rate, t.created_at`;

/* The invoice of the deposit that the op names. */
const itsInvoice = `(select d.invoice_id from deposits d
  where t.kind in ('deposit', 'reversal', 'recovery') and d.deposit_id = split_part(t.op, ':', 2)) as invoice`;

/* The newest rate of a currency before a transfer, which is kept about once an hour. */
const rateOfCurrency = (currency: `$${number}`) => `case when ${currency} = 'USD' then 1 else (
  select k.usd_rate from currency_rates k
  where k.currency = ${currency} and k.as_of <= t.created_at and k.as_of > t.created_at - interval '1 day'
  order by k.as_of desc limit 1) end`;

const LAST = '9223372036854775807';

/*
 * A page of transactions before ($10) and after ($11) a place, and their running balances. A balance is booked while its row is
 * locked, and a transfer gets its seq then: within an account and asset, seq is the order in which the balance changed. So the
 * balance after a transaction is what there is now, less all that came later. Each row adds up what lies between it and the
 * next newer row of its asset, so that together they read each entry once.
 */
const pageOf = (order: 'asc' | 'desc') =>
  query<BalanceTransaction>(
    '',
    `with picked as (
       select x.* from unnest($2::text[]) as a (asset) cross join lateral (
         select ${shown}, e.amount as net from entries e join transfers t on t.seq = e.transfer_seq
         where e.account_id = $1 and e.asset = a.asset and e.bucket = 'available'
           and e.transfer_seq < $10::bigint and e.transfer_seq > $11::bigint and ${matches}
         order by e.transfer_seq ${order} limit $12) x
       order by seq ${order} limit $12),
     neighbours as (
       select *, lag(seq, 1, ${LAST}) over (partition by asset order by seq desc) as newer from picked),
     steps as (
       select n.*, coalesce((select sum(e.amount) from entries e
         where e.account_id = $1 and e.asset = n.asset and e.bucket = 'available'
           and e.transfer_seq > n.seq and e.transfer_seq <= n.newer), 0) as later from neighbours n)
     select ${shown}, t.net, ${itsInvoice}, ${refunded} as refunded, ${rateOfCurrency('$8')} as currency_rate,
       b.available - sum(t.later) over (partition by t.asset order by t.seq desc) as balance_after
     from steps t join balances b on b.account_id = $1 and b.asset = t.asset
     order by t.seq desc`,
  );

const [oldestFirst, newestFirst] = [pageOf('asc'), pageOf('desc')];

/** Where a page lies: the newest, those that are older than a transaction, or those that are newer. */
export type TransactionPlace = { olderThan: string } | { newerThan: string } | 'newest';

/** One page, newest first, and whether there are more beyond it. */
export async function transactionPage(
  db: Queryable,
  filter: TransactionFilter,
  place: TransactionPlace,
  limit: number,
): Promise<{ items: BalanceTransaction[]; hasMore: boolean }> {
  const newer = place !== 'newest' && 'newerThan' in place;
  const before = place === 'newest' || newer ? LAST : place.olderThan;
  const after = newer ? place.newerThan : '0';
  const values = [...valuesOf(filter), before, after, limit + 1];
  const rows = await db.rows(newer ? oldestFirst : newestFirst, values);
  const hasMore = rows.length > limit;
  if (!hasMore) return { items: rows, hasMore };
  // The one too many is the farthest from the place.
  return { items: newer ? rows.slice(1) : rows.slice(0, limit), hasMore };
}

const selectPlace = query<{ seq: string }>(
  'balance_transaction_place',
  `select t.seq from transfers t join entries e on e.transfer_seq = t.seq and e.bucket = 'available'
   where t.op = $1 and t.account_id = $2`,
);

/** The seq of an account's transaction; undefined where it has none of this op. */
export const placeOfTransaction = async (
  db: Queryable,
  account: AccountId,
  op: string,
): Promise<string | undefined> => (await db.maybe(selectPlace, [op, account]))?.seq;

const selectOfDeposits = query<{ seq: string }>(
  'balance_transactions_of_deposits',
  `with d as (
     select deposit_id as id from deposits where invoice_id = $2 and account_id = $1
     union select $3::text where $3 is not null)
   select t.seq from d join transfers t on t.op in ('deposit:' || d.id, 'reversal:' || d.id, 'accept:' || d.id)
   where t.account_id = $1
   union all
   select t.seq from d join transfers t on t.op > 'recovery:' || d.id || ':' and t.op < 'recovery:' || d.id || ';'
   where t.account_id = $1
   union all
   select t.seq from holds h join transfers t on t.op in ('hold:' || h.payout_id, 'release:' || h.payout_id)
   where (h.invoice_id = $2 or h.deposit_id = $3) and t.account_id = $1`,
);

const selectOfPayout = query<{ seq: string }>(
  'balance_transactions_of_payout',
  `select seq from transfers where account_id = $1 and op in ('hold:' || $2, 'release:' || $2)`,
);

/** The transfers that a source caused in an account. */
export async function transfersOfSource(
  db: Queryable,
  account: AccountId,
  { type, id }: Source,
): Promise<string[]> {
  const rows =
    type === 'payout'
      ? await db.rows(selectOfPayout, [account, id])
      : await db.rows(selectOfDeposits, [
          account,
          type === 'invoice' ? id : null,
          type === 'deposit' ? id : null,
        ]);
  return rows.map(({ seq }) => seq);
}

/*
 * Nothing before the filter's time is read, and what came after it is only added up, so that a file of one month does not take
 * longer with every year.
 */
const selectAll = query<BalanceTransaction>(
  '',
  `select t.*, ${itsInvoice}, ${refunded} as refunded, ${rateOfCurrency('$8')} as currency_rate
  from (
    select ${shown}, e.amount as net, b.available - l.later - coalesce(sum(e.amount) over (
      partition by b.asset order by t.seq desc
      rows between unbounded preceding and 1 preceding), 0) as balance_after
    from balances b
    cross join lateral (
      select coalesce(sum(e.amount), 0) as later
      from transfers t join entries e on e.transfer_seq = t.seq and e.account_id = $1 and e.bucket = 'available'
      where t.account_id = $1 and t.asset = b.asset and t.created_at >= $7::timestamptz) l
    join transfers t on t.account_id = $1 and t.asset = b.asset
      and t.created_at >= coalesce($6::timestamptz, '-infinity') and t.created_at < coalesce($7::timestamptz, 'infinity')
    join entries e on e.transfer_seq = t.seq and e.account_id = $1 and e.bucket = 'available'
    where b.account_id = $1 and b.asset = any($2)) t
  where ${matches}
  order by t.seq desc`,
);

/** All transactions, newest first. */
export const allTransactions = (filter: TransactionFilter): Selection<BalanceTransaction> => ({
  rows: selectAll,
  values: valuesOf(filter),
});

const selectSums = query<Partial<MovementSum> & { available: Units }>(
  '',
  `with moved as (
     select t.kind, case t.kind when 'release' then t.detail else '' end as detail,
       ${refunded} is not null as is_refund, t.created_at >= $4 as later,
       count(*)::int as count, sum(e.amount) as net, sum(t.network_fee) as network_fee,
       coalesce(sum(div(e.amount * t.usd_rate * 100, c.rate * $6::numeric)), 0) as value,
       (count(*) filter (where t.usd_rate is null or c.rate is null))::int as without_value
     from transfers t join entries e on e.transfer_seq = t.seq and e.account_id = $1 and e.bucket = 'available'
     cross join lateral (select ${rateOfCurrency('$5')} as rate) c
     where t.account_id = $1 and t.asset = $2 and t.created_at >= $3
     group by 1, 2, 3, 4)
   select available, moved.* from (
     select coalesce((select available from balances where account_id = $1 and asset = $2), 0) as available) b
   left join moved on true`,
);

/** What a balance has, and the sums of its movements from a time on, with those of a later time apart. */
export async function movementSums(
  db: Queryable,
  {
    account,
    asset,
    from,
    to,
    currency,
  }: { account: AccountId; asset: AssetSymbol; from: Date; to: Date; currency: Currency },
): Promise<{ available: Units; movements: MovementSum[] }> {
  const whole = 10n ** BigInt(assets[asset].decimals);
  const rows = await db.rows(selectSums, [account, asset, from, to, currency, whole]);
  const movements = rows.filter((row): row is MovementSum & { available: Units } => row.kind !== null);
  return { available: rows[0]?.available ?? (0n as Units), movements };
}
