import type { Discrepancy } from '@quittance/reconciliation/discrepancy';
import type { AssetSymbol } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import { bulk } from '@quittance/shared/store-kit';
import type { KnownBreach, SeenBreach } from '../domain/breaches.ts';

export type ShownBreach = KnownBreach & { firstSeenAt: Date; lastSeenAt: Date; acceptedAt: Date | null };

type BreachRow = Omit<ShownBreach, 'asset' | 'chain' | 'acceptedAmount' | 'isAccepted'> & {
  asset: AssetSymbol | null;
  chain: string | null;
  acceptedAmount: bigint | null;
};

const selectBreaches = query<BreachRow>(
  'breaches_all',
  `select invariant, subject, asset, what, chain, halts as pauses_payouts, times, first_seen_at, last_seen_at, accepted_at, accepted_amount
   from breaches order by invariant, subject`,
);

export async function knownBreaches(db: Queryable): Promise<ShownBreach[]> {
  return (await db.rows(selectBreaches)).map(({ asset, chain, acceptedAmount, ...row }) => ({
    ...row,
    ...(asset === null ? {} : { asset }),
    ...(chain === null ? {} : { chain }),
    ...(acceptedAmount === null ? {} : { acceptedAmount }),
    isAccepted: row.acceptedAt !== null,
  }));
}

const seenRows = bulk({
  invariant: 'text',
  subject: 'text',
  asset: 'text',
  what: 'text',
  chain: 'text',
  pausesPayouts: 'bool',
});

const upsertBreaches = statement(
  'breaches_see',
  `insert into breaches (invariant, subject, asset, what, chain, halts, first_seen_at, last_seen_at)
   select distinct on (invariant, subject) *, $7::timestamptz, $7::timestamptz
   from ${seenRows.from('seen')}
   on conflict (invariant, subject) do update set
     what = excluded.what, last_seen_at = excluded.last_seen_at, times = breaches.times + 1`,
);

export async function seeBreaches(trx: Trx, seen: readonly SeenBreach[], at: Date): Promise<void> {
  if (seen.length === 0) return;
  const rows = seen.map(({ asset = null, chain = null, ...one }) => ({ ...one, asset, chain }));
  await trx.rows(upsertBreaches, [...seenRows.values(rows), at]);
}

const goneRows = bulk({ invariant: 'text', subject: 'text' });

const deleteBreaches = statement(
  'breaches_forget',
  `delete from breaches where (invariant, subject) in (select * from ${goneRows.from('gone')})`,
);

export async function forgetBreaches(
  trx: Trx,
  gone: readonly Pick<SeenBreach, 'invariant' | 'subject'>[],
): Promise<void> {
  if (gone.length === 0) return;
  await trx.rows(deleteBreaches, goneRows.values(gone));
}

const forgetOfAsset = statement(
  'breaches_forget_of_asset',
  `delete from breaches where halts and accepted_at is null and asset = $1`,
);
const acceptedRows = bulk({ invariant: 'text', subject: 'text', amount: 'numeric' });

const acceptAll = statement(
  'breaches_accept',
  `update breaches set accepted_at = $4, accepted_amount = accepted.amount
   from ${acceptedRows.from('accepted')}
   where (breaches.invariant, breaches.subject) = (accepted.invariant, accepted.subject)`,
);

/** What an operator was shown when payouts were let go on: those that are still there are accepted, the others are gone. */
export async function settleBreaches(
  trx: Trx,
  asset: AssetSymbol,
  accepted: readonly Discrepancy[],
  at: Date,
): Promise<void> {
  await trx.rows(forgetOfAsset, [asset]);
  await seeBreaches(trx, accepted, at);
  const rows = accepted.map(({ amount = null, ...breach }) => ({ ...breach, amount }));
  await trx.rows(acceptAll, [...acceptedRows.values(rows), at]);
}
