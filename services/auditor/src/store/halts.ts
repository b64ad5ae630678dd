import type { AssetSymbol } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import { BY_CONSOLE } from '../domain/console-pause.ts';

export type ShownHalt = {
  seq: string;
  asset: AssetSymbol;
  discrepancies: { invariant: string; what: string }[];
  haltedAt: Date;
  resumedAt: Date | null;
  forced: boolean;
};

const insertHalt = statement(
  'halts_insert',
  `insert into halts as h (asset, discrepancies, halted_at) values ($1, $2, $3)
   on conflict (asset) where resumed_at is null do update set discrepancies = h.discrepancies || excluded.discrepancies
     where not jsonb_path_exists(h.discrepancies, '$[*] ? (@.invariant != $console)', jsonb_build_object('console', $4::text))
       and jsonb_path_exists(excluded.discrepancies, '$[*] ? (@.invariant != $console)', jsonb_build_object('console', $4::text))
   returning seq::text as seq`,
);

/**
 * The number of the halt; undefined when the asset is halted already. A pause of the console takes the reasons of the auditor and of
 * the command line: otherwise the console could end what they have asked for.
 */
export async function openHalt(
  trx: Trx,
  asset: AssetSymbol,
  discrepancies: ShownHalt['discrepancies'],
  at: Date,
): Promise<string | undefined> {
  return (
    await trx.maybe<{ seq: string }>(insertHalt, [asset, JSON.stringify(discrepancies), at, BY_CONSOLE])
  )?.seq;
}

const endHalt = statement(
  'halts_resume',
  `update halts set resumed_at = $2, forced = $3, notified_at = now() where asset = $1 and resumed_at is null returning seq::text as seq`,
);

/** The number of the halt that ends; undefined when there is none. */
export async function closeHalt(
  trx: Trx,
  asset: AssetSymbol,
  { at, forced }: { at: Date; forced: boolean },
): Promise<string | undefined> {
  return (await trx.maybe<{ seq: string }>(endHalt, [asset, at, forced]))?.seq;
}

const selectHalts = query<ShownHalt>(
  'halts_open',
  `select seq::text as seq, asset, discrepancies, halted_at, resumed_at, forced
   from halts where resumed_at is null order by seq`,
);

export const openHalts = (db: Queryable): Promise<ShownHalt[]> => db.rows(selectHalts);

const lockOpen = query<ShownHalt>(
  'halts_lock_open',
  `select seq::text as seq, asset, discrepancies, halted_at, resumed_at, forced
   from halts where asset = $1 and resumed_at is null for update`,
);

/** The open halt of an asset, which nobody else ends before the transaction does. */
export const lockHalt = (trx: Trx, asset: AssetSymbol): Promise<ShownHalt | undefined> =>
  trx.maybe(lockOpen, [asset]);

const selectRight = query<{ isRight: boolean }>(
  'halts_found_right',
  `select exists (select from passed_checks where asset = $1 and began_at > now() - $2::int * interval '1 second')
     and not exists (
       select from discrepancies where pauses_payouts and accepted_at is null and (asset is null or asset = $1)) as is_right`,
);

/** Whether a check of the last seconds has found the asset right, and none has found anything else since. */
export const isFoundRight = async (trx: Trx, asset: AssetSymbol, withinSeconds: number): Promise<boolean> =>
  (await trx.one(selectRight, [asset, withinSeconds])).isRight;

export type HaltInForce = { asset: AssetSymbol; asked: boolean; inForce: boolean };

const selectInForce = query<HaltInForce>(
  'halts_in_force',
  `select coalesce(h.asset, p.asset) as asset, h.asset is not null as asked, p.asset is not null as in_force
   from (select asset from halts where resumed_at is null) h
   full join (select asset from payouts.halted_assets where resumed_at is null) p using (asset)`,
);

/** Assets that the auditor has halted, and assets that payouts has halted. */
export const haltsInForce = (db: Queryable): Promise<HaltInForce[]> => db.rows(selectInForce);

// The latest halt or resumption of each asset, where the state in payouts differs from it.
const takeUnacknowledged = query<ShownHalt>(
  'halts_take_unacknowledged',
  `update halts h set notified_at = now()
   where notified_at < now() - $1::int * interval '1 second'
     and seq = (select max(seq) from halts l where l.asset = h.asset)
     and (resumed_at is null) <> exists (
       select from payouts.halted_assets p where p.asset = h.asset and p.resumed_at is null)
   returning seq::text as seq, asset, discrepancies, halted_at, resumed_at, forced`,
);

/** Halts that payouts has not acknowledged after so long. Each is returned once in that time. */
export const takeUnacknowledgedHalts = (trx: Trx, afterSeconds: number): Promise<ShownHalt[]> =>
  trx.rows(takeUnacknowledged, [afterSeconds]);
