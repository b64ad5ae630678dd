import type { AssetSymbol } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { PayloadOf } from '@quittance/shared/events';

/** A condition of statements that must do nothing while payouts of an asset are halted. */
export const isHalted = (asset: string): string =>
  `exists (select from halted_assets where asset = ${asset} and resumed_at is null)`;

const selectHalted = query<{ asset: AssetSymbol }>(
  'halted_assets',
  `select asset from halted_assets where resumed_at is null`,
);

/** Assets for which nothing new is signed. */
export async function haltedAssets(db: Queryable): Promise<Set<AssetSymbol>> {
  return new Set((await db.rows(selectHalted)).map(({ asset }) => asset));
}

export type Halt = { asset: AssetSymbol; haltedAt: Date };

const selectHalts = query<Halt>(
  'halted_assets_since',
  `select asset, halted_at from halted_assets where resumed_at is null order by halted_at, asset`,
);

/** The same, with the time since when, the longest first. */
export const haltsNow = (db: Queryable): Promise<Halt[]> => db.rows(selectHalts);

// NATS may deliver a halt after its end: the later one has the higher number.
const halt = statement(
  'halted_assets_halt',
  `insert into halted_assets (asset, halt) values ($1, $2)
   on conflict (asset) do update set halt = excluded.halt, halted_at = now(), resumed_at = null
   where halted_assets.halt < excluded.halt`,
);

export async function noteHalt(
  trx: Trx,
  { asset, halt: number }: Pick<PayloadOf<'asset.halted'>, 'asset' | 'halt'>,
): Promise<void> {
  await trx.rows(halt, [asset, number]);
}

const resume = statement(
  'halted_assets_resume',
  `insert into halted_assets (asset, halt, resumed_at) values ($1, $2, now())
   on conflict (asset) do update set halt = excluded.halt, resumed_at = now()
   where halted_assets.halt <= excluded.halt`,
);

/** Ends this halt and the earlier ones; a later one stays. */
export async function noteResume(
  trx: Trx,
  { asset, halt: number }: PayloadOf<'asset.resumed'>,
): Promise<void> {
  await trx.rows(resume, [asset, number]);
}
