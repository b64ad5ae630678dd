import type { AssetSymbol } from '@quittance/shared/assets';
import type { Discrepancy } from './discrepancy.ts';
import type { Invariant } from './invariant.ts';
import type { Snapshot } from './snapshot.ts';
import type { Watermarks } from './watermarks.ts';

/** How many discrepancies of each invariant and asset are named, so that one asset's do not hide another's. */
const NAMED_MAX = 100;

type Row = {
  what: string;
  asset: AssetSymbol | null;
  subject: string;
  amount: string | null;
  rest: string | null;
};

type InvariantScope = {
  /** Anything younger may still be on its way. */
  gracePeriodSeconds: number;
  /** Only what is newer than these, or still open. */
  watermarks?: Watermarks | undefined;
  /** Known discrepancies are always named, and do not count against the others. */
  known?: readonly Pick<Discrepancy, 'invariant' | 'subject'>[];
};

// Not every query has an amount.
const firstOfEachAsset = (sql: string): string => `
  select what, asset, subject, amount, case when place = ${NAMED_MAX} and not is_known then rest end as rest from (
    select what, asset, subject, to_jsonb(found) ->> 'amount' as amount, subject = any($2::text[]) as is_known,
      row_number() over (partition by asset, subject = any($2) order by subject, what) as place,
      nullif(count(*) over (partition by asset, subject = any($2)) - ${NAMED_MAX}, 0)::text as rest
    from (${sql}) as found) as numbered
  where $1::int is not null and (is_known or place <= ${NAMED_MAX}) order by asset, subject, what`;

/** The discrepancies of these invariants, all from one snapshot. */
export async function checkInvariants(
  snapshot: Snapshot,
  checked: readonly Invariant[],
  { gracePeriodSeconds, watermarks, known = [] }: InvariantScope,
): Promise<Discrepancy[]> {
  return await snapshot(async (trx) => {
    const found: Discrepancy[] = [];
    for (const { number, name, meaning, pausesPayouts, sql: whole, recent } of checked) {
      const sql = watermarks === undefined ? whole : recent?.(watermarks);
      if (sql === undefined) continue;
      const subjects = known.filter(({ invariant }) => invariant === number).map(({ subject }) => subject);
      for (const { asset, amount, rest, ...row } of await trx.rows<Row>(firstOfEachAsset(sql), [
        gracePeriodSeconds,
        subjects,
      ])) {
        const of = { invariant: number, name, meaning, pausesPayouts, ...(asset === null ? {} : { asset }) };
        found.push({ ...of, ...row, ...(amount === null ? {} : { amount: BigInt(amount) }) });
        if (rest === null) continue;
        const [what, subject] = [`${rest} more of ${asset ?? 'no asset'}`, `more of ${asset}: ${meaning}`];
        found.push({ ...of, what, subject, amount: BigInt(rest), isTheRest: true });
      }
    }
    return found;
  });
}
