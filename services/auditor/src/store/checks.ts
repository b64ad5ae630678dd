import type { CheckScope } from '@quittance/reconciliation/chain-records';
import type { Watermarks } from '@quittance/reconciliation/watermarks';
import type { Chain } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { LastChecks } from '../domain/check-plan.ts';

// As of ten minutes ago: no transaction of a service is open for that long, so no row is added below them any more.
const selectWatermarks = statement(
  'watermarks_current',
  `select
     coalesce((select seq from ledger.transfers where created_at < now() - interval '10 minutes'
       order by seq desc limit 1), 0)::text as transfers,
     coalesce((select seq from invoices.outbox where created_at < now() - interval '10 minutes'
       order by seq desc limit 1), 0)::text as deposits,
     coalesce((select id from payouts.transactions where created_at < now() - interval '10 minutes'
       order by id desc limit 1), 0)::text as transactions`,
);

/** The rows up to which no row is added any more. */
export const currentWatermarks = (db: Queryable): Promise<Watermarks> => db.one<Watermarks>(selectWatermarks);

const selectLastWatermarks = statement(
  'watermarks_of_last_check',
  `select watermarks from checks
   where ($1::text is null and scope <> 'again') or (chains ? $1 and chains -> $1 = 'null')
   order by seq desc limit 1`,
);

/** Up to where a check has read everything, or has compared it with `chain`; undefined when there was no such check. */
export async function lastWatermarks(
  db: Queryable,
  chain: Chain | null = null,
): Promise<Watermarks | undefined> {
  return (await db.maybe<{ watermarks: Watermarks }>(selectLastWatermarks, [chain]))?.watermarks;
}

const insertCheck = statement(
  'checks_insert',
  `insert into checks (scope, began_at, ended_at, was_right, watermarks, chains)
   values ($1, clock_timestamp() - $2::int * interval '1 millisecond', clock_timestamp(), $3, $4, '{}')
   returning seq::text as seq`,
);

export type Check = {
  scope: 'whole' | 'recent' | 'again';
  wasRight: boolean;
  watermarks: Watermarks;
  /** By chain: null when it was compared, else why it could not be. */
  chains: Record<string, string | null>;
};

/** Stores a check that ends now. The time is the database's, because the clocks of replicas may differ. */
export async function insertCheckRow(
  trx: Trx,
  { scope, wasRight, watermarks, tookMs }: Omit<Check, 'chains'> & { tookMs: number },
): Promise<string> {
  const values = [scope, tookMs, wasRight, JSON.stringify(watermarks)];
  return (await trx.one<{ seq: string }>(insertCheck, values)).seq;
}

const addChain = statement(
  'checks_add_chain',
  `update checks set chains = chains || jsonb_build_object($2::text, $3::text), was_right = was_right and $4,
     ended_at = clock_timestamp()
   where seq = $1`,
);

/** Adds the result of the comparison with a chain to a check. */
export async function addChainToCheck(
  trx: Trx,
  seq: string,
  { chain, unseen, wasRight }: { chain: Chain; unseen: string | null; wasRight: boolean },
): Promise<void> {
  await trx.rows(addChain, [seq, chain, unseen, wasRight]);
}

const deleteChecks = statement(
  'checks_delete_old',
  `delete from checks where began_at < now() - interval '7 days'
     and seq < (select max(seq) from checks where scope = 'whole')
     and seq not in (select max(seq) from checks, jsonb_each(chains) as c(name, reason) where reason = 'null' group by name)`,
);

/** Deletes checks older than a week, except the last one of every row and the last comparison with each chain. */
export async function deleteOldChecks(trx: Trx): Promise<void> {
  await trx.rows(deleteChecks);
}

const selectLast = query<Omit<LastChecks, 'seenChains'>>(
  'checks_last',
  `select
     (select extract(epoch from clock_timestamp() - ended_at) * 1000 from checks order by seq desc limit 1)::float as age_ms,
     (select extract(epoch from clock_timestamp() - ended_at) * 1000 from checks where scope = 'whole'
       order by seq desc limit 1)::float as whole_age_ms,
     (select coalesce(jsonb_agg(distinct jsonb_strip_nulls(jsonb_build_object('invariant', invariant, 'chain', chain))), '[]')
       from discrepancies where pauses_payouts and accepted_at is null and times = 1) as suspected,
     (select count(*) from discrepancies where pauses_payouts and accepted_at is null and times > 1)::int as confirmed`,
);

export async function lastChecks(db: Queryable): Promise<LastChecks> {
  const last = await db.one(selectLast);
  const seen = (await lastComparisons(db)).filter(({ compared }) => compared);
  return { ...last, seenChains: new Set(seen.map(({ chain }) => chain)) };
}

export type ShownCheck = Pick<Check, 'scope' | 'wasRight' | 'chains'> & { beganAt: Date; endedAt: Date };

const selectShown = query<ShownCheck>(
  'checks_shown',
  `select scope, began_at, ended_at, was_right, chains
   from checks where scope = $1 order by seq desc limit 1`,
);

export const lastCheck = (db: Queryable, scope: Check['scope']): Promise<ShownCheck | undefined> =>
  db.maybe(selectShown, [scope]);

const selectChains = query<{ chain: string; compared: boolean }>(
  'checks_chains',
  `select distinct on (name) name as chain, reason = 'null' as compared
   from (select seq, chains from checks order by seq desc limit 100) as latest, jsonb_each(chains) as c(name, reason)
   order by name, seq desc`,
);

/** Whether the last comparison with each chain succeeded. */
export const lastComparisons = (db: Queryable): Promise<{ chain: string; compared: boolean }[]> =>
  db.rows(selectChains);

const selectHowFar = statement(
  'chain_scope',
  `select least(clock_timestamp(), coalesce(max(began_at) filter (where chains -> $1 = 'null'), min(began_at)))
       - $2::int * interval '1 day' as since,
     (select coalesce(array_agg(subject), '{}') from discrepancies where chain = $1) as suspects
   from checks`,
);

/**
 * What a comparison with a chain has to check: everything since so many days before the last comparison, and each known
 * discrepancy, however old it is.
 */
export const chainScope = (
  db: Queryable,
  chain: Chain,
  days: number,
): Promise<Required<Pick<CheckScope, 'since' | 'suspects'>>> => db.one(selectHowFar, [chain, days]);
