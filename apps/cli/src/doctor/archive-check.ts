import type { Db } from '@quittance/shared/db';
import { bad, type Finding, ok } from './finding.ts';

type Waiting = { archiving: boolean; months: number; oldest: string | null; late: boolean | null };

/**
 * Whether months of pruned events wait longer than until the next monthly run. Nothing when they are deleted and none waits.
 * One row of each partition tells of its month: millions of events are not read for that.
 */
export async function checkArchive(db: Db): Promise<Finding[]> {
  const { archiving, months, oldest, late } = await db.one<Waiting>(
    `select exists (select from webhooks.archiving) as archiving, count(*)::int as months,
       to_char(min(month), 'YYYY-MM') as oldest, min(month) < now() - interval '6 months' as late
     from generate_series(1, 12) as n
     cross join lateral (select month from webhooks.pruned_events where month_of_year = n limit 1) as waiting`,
  );
  if (oldest === null) return archiving ? [ok('archive', 'events', 'no month waits')] : [];
  const found = `${months} ${months === 1 ? 'month waits' : 'months wait'}, since ${oldest}`;
  return [
    late === true
      ? bad(
          'warning',
          'archive',
          'events',
          found,
          'Run `quittance archive write --to FOLDER` every month: the database grows until then.',
        )
      : ok('archive', 'events', found),
  ];
}
