import type { Watermarks } from '@quittance/reconciliation/watermarks';
import type { Chain } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { LastChecks } from '../domain/check-plan.ts';

// As of ten minutes ago: no transaction of ours is open for so long, so nothing is written below them any more.
const selectMarks = statement(
  'marks',
  `select
     coalesce((select seq from ledger.transfers where created_at < now() - interval '10 minutes'
       order by seq desc limit 1), 0)::text as transfers,
     coalesce((select seq from invoices.outbox where created_at < now() - interval '10 minutes'
       order by seq desc limit 1), 0)::text as deposits,
     coalesce((select id from payouts.transactions where created_at < now() - interval '10 minutes'
       order by id desc limit 1), 0)::text as transactions`,
);

/** Up to where everything is written that ever will be. */
export const marksOfNow = (db: Queryable): Promise<Watermarks> => db.one<Watermarks>(selectMarks);

const selectLastMarks = statement(
  'marks_of_last_check',
  `select marks from checks
   where ($1::text is null and extent <> 'again') or (chains ? $1 and chains -> $1 = 'null')
   order by seq desc limit 1`,
);

/** Up to where a check has seen everything, or has compared it with a chain; undefined when there was none. */
export async function lastMarks(db: Queryable, chain: Chain | null = null): Promise<Watermarks | undefined> {
  return (await db.maybe<{ marks: Watermarks }>(selectLastMarks, [chain]))?.marks;
}

const insertCheck = statement(
  'checks_insert',
  `insert into checks (extent, began_at, ended_at, was_right, marks, chains)
   values ($1, clock_timestamp() - $2::int * interval '1 millisecond', clock_timestamp(), $3, $4, $5)
   returning seq::text as seq`,
);

export type Check = {
  extent: 'whole' | 'recent' | 'again';
  wasRight: boolean;
  marks: Watermarks;
  /** By chain: null when it was compared, else why it could not be. */
  chains: Record<string, string | null>;
};

/** A check that ends now. Only the database's clock dates it: those of the replicas may differ, or be wrong. */
export async function insertCheckRow(
  trx: Trx,
  { extent, wasRight, marks, tookMs }: Omit<Check, 'chains'> & { tookMs: number },
): Promise<string> {
  const values = [extent, tookMs, wasRight, JSON.stringify(marks), '{}'];
  return (await trx.one<{ seq: string }>(insertCheck, values)).seq;
}

const addChain = statement(
  'checks_add_chain',
  `update checks set chains = chains || jsonb_build_object($2::text, $3::text), was_right = was_right and $4,
     ended_at = clock_timestamp()
   where seq = $1`,
);

/** What a check found when it compared the books with a chain as well. */
export async function addChainToCheck(
  trx: Trx,
  seq: string,
  { chain, unseen, wasRight }: { chain: Chain; unseen: string | null; wasRight: boolean },
): Promise<void> {
  await trx.rows(addChain, [seq, chain, unseen, wasRight]);
}

const forgetChecks = statement(
  'checks_forget',
  `delete from checks where began_at < now() - interval '7 days'
     and seq < (select max(seq) from checks where extent = 'whole')
     and seq not in (select max(seq) from checks, jsonb_each(chains) as c(name, reason) where reason = 'null' group by name)`,
);

/** Checks of last week say nothing any more, but for the last whole one, and the last that compared each chain. */
export async function forgetOldChecks(trx: Trx): Promise<void> {
  await trx.rows(forgetChecks);
}

type LastRow = { ageMs: number | null; wholeAgeMs: number | null } & Pick<
  LastChecks,
  'suspected' | 'confirmed'
>;

const selectLast = query<LastRow>(
  'checks_last',
  `select
     (select extract(epoch from clock_timestamp() - ended_at) * 1000 from checks order by seq desc limit 1)::float as age_ms,
     (select extract(epoch from clock_timestamp() - ended_at) * 1000 from checks where extent = 'whole'
       order by seq desc limit 1)::float as whole_age_ms,
     (select coalesce(jsonb_agg(distinct jsonb_strip_nulls(jsonb_build_object('invariant', invariant, 'chain', chain))), '[]')
       from breaches where halts and accepted_at is null and times = 1) as suspected,
     (select count(*) from breaches where halts and accepted_at is null and times > 1)::int as confirmed`,
);

export async function lastChecks(db: Queryable): Promise<LastChecks> {
  const { ageMs, wholeAgeMs, ...breaches } = await db.one(selectLast);
  const seen = (await lastComparisons(db)).filter(({ compared }) => compared);
  return {
    ageMs: ageMs ?? undefined,
    wholeAgeMs: wholeAgeMs ?? undefined,
    ...breaches,
    seenChains: new Set(seen.map(({ chain }) => chain)),
  };
}

export type ShownCheck = Pick<Check, 'extent' | 'wasRight' | 'chains'> & { beganAt: Date; endedAt: Date };

const selectShown = query<ShownCheck>(
  'checks_shown',
  `select extent, began_at, ended_at, was_right, chains
   from checks where $1::text is null or extent = $1 order by seq desc limit 1`,
);

export const lastCheck = (
  db: Queryable,
  extent: Check['extent'] | null = null,
): Promise<ShownCheck | undefined> => db.maybe(selectShown, [extent]);

const selectChains = query<{ chain: string; compared: boolean }>(
  'checks_chains',
  `select distinct on (name) name as chain, reason = 'null' as compared
   from (select seq, chains from checks order by seq desc limit 100) as latest, jsonb_each(chains) as c(name, reason)
   order by name, seq desc`,
);

/** Whether the books were compared with each chain when its node was asked last. */
export const lastComparisons = (db: Queryable): Promise<{ chain: string; compared: boolean }[]> =>
  db.rows(selectChains);
