import type { Discrepancy } from '@quittance/reconciliation/discrepancy';
import type { AssetSymbol } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { FoundDiscrepancy, KnownDiscrepancy } from '../domain/discrepancies.ts';

export type StoredDiscrepancy = KnownDiscrepancy & {
  firstSeenAt: Date;
  lastSeenAt: Date;
  acceptedAt: Date | null;
};

type DiscrepancyRow = Omit<StoredDiscrepancy, 'asset' | 'chain' | 'acceptedAmount' | 'isAccepted'> & {
  asset: AssetSymbol | null;
  chain: string | null;
  acceptedAmount: bigint | null;
};

const selectDiscrepancies = query<DiscrepancyRow>(
  'discrepancies_all',
  `select invariant, subject, asset, what, chain, pauses_payouts, times, first_seen_at, last_seen_at, accepted_at, accepted_amount
   from discrepancies order by invariant, subject`,
);

export async function knownDiscrepancies(db: Queryable): Promise<StoredDiscrepancy[]> {
  return (await db.rows(selectDiscrepancies)).map(({ asset, chain, acceptedAmount, ...row }) => ({
    ...row,
    ...(asset === null ? {} : { asset }),
    ...(chain === null ? {} : { chain }),
    ...(acceptedAmount === null ? {} : { acceptedAmount }),
    isAccepted: row.acceptedAt !== null,
  }));
}

const foundRows = bulk({
  invariant: 'text',
  subject: 'text',
  asset: 'text',
  what: 'text',
  chain: 'text',
  pausesPayouts: 'bool',
});

const upsertDiscrepancies = statement(
  'discrepancies_upsert',
  `insert into discrepancies (invariant, subject, asset, what, chain, pauses_payouts, first_seen_at, last_seen_at)
   select distinct on (invariant, subject) *, $7::timestamptz, $7::timestamptz
   from ${foundRows.from('found')}
   on conflict (invariant, subject) do update set
     what = excluded.what, last_seen_at = excluded.last_seen_at, times = discrepancies.times + 1`,
);

export async function storeDiscrepancies(
  trx: Trx,
  found: readonly FoundDiscrepancy[],
  at: Date,
): Promise<void> {
  if (found.length === 0) return;
  const rows = found.map(({ asset = null, chain = null, ...one }) => ({ ...one, asset, chain }));
  await trx.rows(upsertDiscrepancies, [...foundRows.values(rows), at]);
}

const resolvedRows = bulk({ invariant: 'text', subject: 'text' });

const deleteResolved = statement(
  'discrepancies_delete',
  `delete from discrepancies where (invariant, subject) in (select * from ${resolvedRows.from('resolved')})`,
);

export async function deleteDiscrepancies(
  trx: Trx,
  resolved: readonly Pick<FoundDiscrepancy, 'invariant' | 'subject'>[],
): Promise<void> {
  if (resolved.length === 0) return;
  await trx.rows(deleteResolved, resolvedRows.values(resolved));
}

const deleteOfAsset = statement(
  'discrepancies_delete_of_asset',
  `delete from discrepancies where pauses_payouts and accepted_at is null and asset = $1`,
);
const acceptedRows = bulk({ invariant: 'text', subject: 'text', amount: 'numeric' });

const acceptAll = statement(
  'discrepancies_accept',
  `update discrepancies set accepted_at = $4, accepted_amount = accepted.amount
   from ${acceptedRows.from('accepted')}
   where (discrepancies.invariant, discrepancies.subject) = (accepted.invariant, accepted.subject)`,
);

/** Accepts what an operator was shown when payouts were resumed. Discrepancies of the asset that are not among it are resolved. */
export async function acceptDiscrepancies(
  trx: Trx,
  asset: AssetSymbol,
  accepted: readonly Discrepancy[],
  at: Date,
): Promise<void> {
  await trx.rows(deleteOfAsset, [asset]);
  await storeDiscrepancies(trx, accepted, at);
  const rows = accepted.map(({ amount = null, ...discrepancy }) => ({ ...discrepancy, amount }));
  await trx.rows(acceptAll, [...acceptedRows.values(rows), at]);
}
