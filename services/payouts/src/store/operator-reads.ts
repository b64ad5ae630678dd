import { type AssetSymbol, assetSymbols, assets, type Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import { stalledAfterSeconds } from '@quittance/shared/stalled-payouts';
import { openPayouts } from './payouts.ts';

/* What the console of operators shows of payouts. */

export type Queue = { asset: AssetSymbol; status: string; payouts: number; oldestAt: Date };

const selectQueues = query<Queue>(
  'operator_queues',
  `select asset, status, count(*)::int as payouts, min(created_at) as oldest_at
   from (${openPayouts}) as payout group by asset, status order by asset, status`,
);

/** Payouts that have not ended, by asset and by how far they are. */
export const payoutQueues = (db: Queryable): Promise<Queue[]> => db.rows(selectQueues);

export type StalledRow = {
  id: string;
  account: AccountId;
  asset: AssetSymbol;
  amount: Units;
  status: string;
  createdAt: Date;
  refusedBecause: string | null;
};

const limits = bulk({ asset: 'text', seconds: 'int' });

const selectStalled = query<StalledRow>(
  'operator_stalled',
  `select p.id::text as id, p.account_id as account, p.asset, p.amount, p.status, p.created_at,
     case when p.status = 'reserved' then p.signing_refused_because end as refused_because
   from payouts p join ${limits.from('known')} using (asset)
   where coalesce(p.approved_at, p.created_at) < now() - seconds * interval '1 second' and (
     p.status in ('reserved', 'planned')
     or p.status in ('signed', 'broadcast') and p.id in (
       select m.payout_id from transactions t join payments m using (replacement_group)
       where t.state in ('signed', 'broadcast')))
   order by p.created_at, p.seq limit $3`,
);

/** Payouts that are pending for longer than their chain takes, the oldest first. */
export function stalledRows(db: Queryable, limit: number): Promise<StalledRow[]> {
  const known = assetSymbols.map((asset) => ({ asset, seconds: stalledAfterSeconds[assets[asset].chain] }));
  return db.rows(selectStalled, [...limits.values(known), limit]);
}

export type Sweep = {
  id: string;
  chain: Chain;
  asset: AssetSymbol;
  amount: Units;
  address: string;
  state: string;
  txHash: string;
  createdAt: Date;
};

/** Of so many transactions the sweeps are looked for. */
const TRANSACTIONS_MAX = 20_000;

const selectSweeps = query<Sweep>(
  'operator_sweeps',
  `select t.id::text as id, chain, asset, amount, swept_address as address, state, tx_hash, created_at from transactions t
   where purpose = 'sweep' and t.id > (select coalesce(max(m.id), 0) from transactions m) - ${TRANSACTIONS_MAX}
   order by t.id desc limit $1`,
);

/** The last sweeps, the latest first. */
export const lastSweeps = (db: Queryable, limit: number): Promise<Sweep[]> => db.rows(selectSweeps, [limit]);

export type Sum = { chain: Chain; asset: AssetSymbol; amount: Units };

const selectUnswept = query<Sum>(
  'operator_unswept',
  `select chain, asset, sum(amount) as amount from unswept_deposits
   where state = 'held' and reversed_at is null group by chain, asset`,
);

/** What lies on deposit addresses. */
export const unsweptSums = (db: Queryable): Promise<Sum[]> => db.rows(selectUnswept);

const selectSpendable = query<{ amount: Units }>(
  'operator_spendable',
  `select coalesce(sum(amount), 0) as amount from utxos where chain = $1 and state = 'available' and reversed_at is null`,
);

/** What the next transaction could spend on a chain with UTXOs. */
export const spendableSum = async (db: Queryable, chain: Chain): Promise<Units> =>
  (await db.one(selectSpendable, [chain])).amount;

const selectLeaders = query<{ name: string }>(
  'operator_leaders',
  'select name from leases where name = any($1::text[]) and expires_at > clock_timestamp()',
);

/** Those of these leases that a replica has. */
export const heldLeases = async (db: Queryable, names: readonly string[]): Promise<Set<string>> =>
  new Set((await db.rows(selectLeaders, [names])).map(({ name }) => name));
