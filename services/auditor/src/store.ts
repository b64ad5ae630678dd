import type { Marks } from '@quittance/reconciliation/invariants';
import type { Breach } from '@quittance/reconciliation/verify-books';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { KnownBreach, LastChecks, SeenBreach } from './domain/verdict.ts';

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
export const marksOfNow = (db: Queryable): Promise<Marks> => db.one<Marks>(selectMarks);

const selectLastMarks = statement(
  'marks_of_last_check',
  `select marks from checks
   where ($1::text is null and extent <> 'again') or (chains ? $1 and chains -> $1 = 'null')
   order by seq desc limit 1`,
);

/** Up to where a check has seen everything, or has compared it with a chain; undefined when there was none. */
export async function lastMarks(db: Queryable, chain: Chain | null = null): Promise<Marks | undefined> {
  return (await db.maybe<{ marks: Marks }>(selectLastMarks, [chain]))?.marks;
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
  marks: Marks;
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

const selectLast = statement(
  'checks_last',
  `select
     (select extract(epoch from clock_timestamp() - ended_at) * 1000 from checks order by seq desc limit 1)::float as age,
     (select extract(epoch from clock_timestamp() - ended_at) * 1000 from checks where extent = 'whole'
       order by seq desc limit 1)::float as "wholeAge",
     (select coalesce(jsonb_agg(distinct jsonb_strip_nulls(jsonb_build_object('invariant', invariant, 'chain', chain))), '[]')
       from breaches where halts and accepted_at is null and times = 1) as suspected,
     (select count(*) from breaches where halts and accepted_at is null and times > 1)::int as confirmed`,
);

type LastRow = { age: number | null; wholeAge: number | null } & Pick<LastChecks, 'suspected' | 'confirmed'>;

export async function lastChecks(db: Queryable): Promise<LastChecks> {
  const { age, wholeAge, ...breaches } = await db.one<LastRow>(selectLast);
  const seen = (await lastComparisons(db)).filter(({ compared }) => compared);
  return {
    ageMs: age ?? undefined,
    wholeAgeMs: wholeAge ?? undefined,
    ...breaches,
    seenChains: new Set(seen.map(({ chain }) => chain)),
  };
}

export type ShownCheck = Pick<Check, 'extent' | 'wasRight' | 'chains'> & { beganAt: Date; endedAt: Date };

const selectShown = statement(
  'checks_shown',
  `select extent, began_at as "beganAt", ended_at as "endedAt", was_right as "wasRight", chains
   from checks where $1::text is null or extent = $1 order by seq desc limit 1`,
);

export const lastCheck = (
  db: Queryable,
  extent: Check['extent'] | null = null,
): Promise<ShownCheck | undefined> => db.maybe<ShownCheck>(selectShown, [extent]);

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

/** Adds all entries up to a transfer up anew: later checks need only those after it. */
export async function rebuildSums(trx: Trx, { transfers }: Marks, maxMs: number): Promise<void> {
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

/** Adds the entries of the transfers since then: a check of what is new does not grow all day. */
export async function advanceSums(trx: Trx, { transfers }: Marks): Promise<void> {
  await trx.rows(advance, [transfers]);
  await trx.rows(noteAdvance, [transfers]);
}

type BreachRow = {
  invariant: string;
  subject: string;
  asset: AssetSymbol | null;
  what: string;
  chain: string | null;
  halts: boolean;
  times: number;
  first_seen_at: Date;
  last_seen_at: Date;
  accepted_at: Date | null;
  accepted_amount: string | null;
};

export type ShownBreach = KnownBreach & { firstSeenAt: Date; lastSeenAt: Date; acceptedAt: Date | null };

const columns = `invariant, subject, asset, what, chain, halts, times, first_seen_at, last_seen_at, accepted_at,
  accepted_amount`;

const selectBreaches = statement(
  'breaches_all',
  `select ${columns} from breaches order by invariant, subject`,
);

export async function knownBreaches(db: Queryable): Promise<ShownBreach[]> {
  return (await db.rows<BreachRow>(selectBreaches)).map((row) => ({
    invariant: row.invariant,
    subject: row.subject,
    what: row.what,
    ...(row.asset === null ? {} : { asset: row.asset }),
    ...(row.chain === null ? {} : { chain: row.chain }),
    halts: row.halts,
    times: row.times,
    isAccepted: row.accepted_at !== null,
    ...(row.accepted_amount === null ? {} : { acceptedAmount: BigInt(row.accepted_amount) }),
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
    acceptedAt: row.accepted_at,
  }));
}

const upsertBreaches = statement(
  'breaches_see',
  `insert into breaches (invariant, subject, asset, what, chain, halts, first_seen_at, last_seen_at)
   select distinct on (invariant, subject) *, $7::timestamptz, $7::timestamptz
   from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bool[])
     as seen(invariant, subject, asset, what, chain, halts)
   on conflict (invariant, subject) do update set
     what = excluded.what, last_seen_at = excluded.last_seen_at, times = breaches.times + 1`,
);

export async function seeBreaches(trx: Trx, seen: readonly SeenBreach[], at: Date): Promise<void> {
  if (seen.length === 0) return;
  await trx.rows(upsertBreaches, [
    seen.map(({ invariant }) => invariant),
    seen.map(({ subject }) => subject),
    seen.map(({ asset }) => asset ?? null),
    seen.map(({ what }) => what),
    seen.map(({ chain }) => chain ?? null),
    seen.map(({ halts }) => halts),
    at,
  ]);
}

const deleteBreaches = statement(
  'breaches_forget',
  `delete from breaches where (invariant, subject) in (select * from unnest($1::text[], $2::text[]))`,
);

export async function forgetBreaches(
  trx: Trx,
  gone: readonly Pick<SeenBreach, 'invariant' | 'subject'>[],
): Promise<void> {
  if (gone.length === 0) return;
  await trx.rows(deleteBreaches, [
    gone.map(({ invariant }) => invariant),
    gone.map(({ subject }) => subject),
  ]);
}

const forgetOfAsset = statement(
  'breaches_forget_of_asset',
  `delete from breaches where halts and accepted_at is null and asset = $1`,
);
const acceptAll = statement(
  'breaches_accept',
  `update breaches set accepted_at = $4, accepted_amount = accepted.amount
   from unnest($1::text[], $2::text[], $3::numeric[]) as accepted(invariant, subject, amount)
   where (breaches.invariant, breaches.subject) = (accepted.invariant, accepted.subject)`,
);

/** What an operator was shown when payouts were let go on: those that are still there are accepted, the others are gone. */
export async function settleBreaches(
  trx: Trx,
  asset: AssetSymbol,
  accepted: readonly Breach[],
  at: Date,
): Promise<void> {
  await trx.rows(forgetOfAsset, [asset]);
  await seeBreaches(trx, accepted, at);
  await trx.rows(acceptAll, [
    accepted.map(({ invariant }) => invariant),
    accepted.map(({ subject }) => subject),
    accepted.map(({ amount }) => amount ?? null),
    at,
  ]);
}

export type ShownHalt = {
  seq: string;
  asset: AssetSymbol;
  breaches: { invariant: string; what: string }[];
  haltedAt: Date;
  resumedAt: Date | null;
  forced: boolean;
};

const insertHalt = statement(
  'halts_insert',
  `insert into halts (asset, breaches, halted_at) values ($1, $2, $3)
   on conflict (asset) where resumed_at is null do nothing returning seq::text as seq`,
);

/** The number of the new halt; undefined when the asset is halted already. */
export async function openHalt(
  trx: Trx,
  asset: AssetSymbol,
  breaches: ShownHalt['breaches'],
  at: Date,
): Promise<string | undefined> {
  return (await trx.maybe<{ seq: string }>(insertHalt, [asset, JSON.stringify(breaches), at]))?.seq;
}

const endHalt = statement(
  'halts_resume',
  `update halts set resumed_at = $2, forced = $3, announced_at = now() where asset = $1 and resumed_at is null returning seq::text as seq`,
);

/** The number of the halt that ends; undefined when there is none. */
export async function closeHalt(
  trx: Trx,
  asset: AssetSymbol,
  { at, forced }: { at: Date; forced: boolean },
): Promise<string | undefined> {
  return (await trx.maybe<{ seq: string }>(endHalt, [asset, at, forced]))?.seq;
}

const selectHalts = statement(
  'halts_open',
  `select seq::text as seq, asset, breaches, halted_at as "haltedAt", resumed_at as "resumedAt", forced
   from halts where resumed_at is null order by seq`,
);

export const openHalts = (db: Queryable): Promise<ShownHalt[]> => db.rows<ShownHalt>(selectHalts);

export type HaltInForce = { asset: AssetSymbol; asked: boolean; inForce: boolean };

const selectInForce = statement(
  'halts_in_force',
  `select coalesce(h.asset, p.asset) as asset, h.asset is not null as asked, p.asset is not null as "inForce"
   from (select asset from halts where resumed_at is null) h
   full join (select asset from payouts.halted_assets where resumed_at is null) p using (asset)`,
);

/** Assets whose payouts were asked to halt, or do. */
export const haltsInForce = (db: Queryable): Promise<HaltInForce[]> => db.rows<HaltInForce>(selectInForce);

// The last word on each asset, where payouts does not do as it was told.
const takeUnheeded = statement(
  'halts_take_unheeded',
  `update halts h set announced_at = now()
   where announced_at < now() - $1::int * interval '1 second'
     and seq = (select max(seq) from halts l where l.asset = h.asset)
     and (resumed_at is null) <> exists (
       select from payouts.halted_assets p where p.asset = h.asset and p.resumed_at is null)
   returning seq::text as seq, asset, breaches, halted_at as "haltedAt", resumed_at as "resumedAt", forced`,
);

/** Those that payouts does not heed after so long; each is given out once in that time. */
export const takeUnheededHalts = (trx: Trx, afterSeconds: number): Promise<ShownHalt[]> =>
  trx.rows<ShownHalt>(takeUnheeded, [afterSeconds]);

const selectChains = statement(
  'checks_chains',
  `select distinct on (name) name as chain, reason = 'null' as compared
   from (select seq, chains from checks order by seq desc limit 100) as latest, jsonb_each(chains) as c(name, reason)
   order by name, seq desc`,
);

/** Whether the books were compared with each chain when its node was asked last. */
export const lastComparisons = (db: Queryable): Promise<{ chain: string; compared: boolean }[]> =>
  db.rows<{ chain: string; compared: boolean }>(selectChains);
