import { bulk, type Queryable, query, statement } from '@quittance/shared/db';
import type { AssertionId, PayoutId } from '@quittance/shared/ids';
import type { HoldToProve, Use } from '../domain/asked-hold.ts';

/** The request by which a payout is asked for; `assertion` is null where none is known. */
export type HoldProof = Pick<HoldToProve, 'asset' | 'networkFee' | 'destination' | 'item'> & {
  id: PayoutId;
  assertion: AssertionId | null;
  use: Use | 'unproven';
};

/** `kept`: now or before, for this payout. `link_in_use`: by a payout that has neither paid nor ended. */
export type KeptProof = { outcome: 'kept' | 'used_before' | 'link_in_use' | 'fee_too_high' };

const asked = bulk({
  id: 'payout_id text',
  assertion: 'assertion_id text',
  item: 'int',
  use: 'text',
  destination: 'text',
  asset: 'text',
  networkFee: 'numeric',
});

/*
 * A request that two payouts use at the same moment is kept for one of them: the unique index leaves the other row out, and
 * with it this statement has no outcome for that payout. The next one finds the request used.
 */
const keep = query<KeptProof & { n: number }>(
  'hold_proofs_keep',
  `with asked as (
     select a.*, a.network_fee > greatest(s.network_fee, s.fee_cap) as is_too_high
     from ${asked.numbered('a', 'n')} join assets s on s.symbol = a.asset),
   known as (
     select payout_id, assertion_id, item, destination from hold_proofs where payout_id = any($1::text[])),
   used as (
     select p.assertion_id, p.item, p.use = 'link' and h.state is distinct from 'settled' as is_open
     from hold_proofs p left join holds h using (payout_id)
     where p.assertion_id = any($2::text[]) and p.use in ('once', 'link') and not p.replaced),
   fresh as (
     insert into hold_proofs (payout_id, assertion_id, item, use, destination)
     select payout_id, assertion_id, item, use, destination from asked where not is_too_high
     on conflict do nothing
     returning payout_id, assertion_id, item, destination),
   kept as (select * from known union all select * from fresh)
   select a.n::int as n, case
     when k.payout_id is null and a.is_too_high then 'fee_too_high'
     when k.payout_id is null and u.is_open then 'link_in_use'
     when k.payout_id is null then 'used_before'
     when k.assertion_id is distinct from a.assertion_id or k.item <> a.item or k.destination <> a.destination
     then 'used_before' else 'kept' end as outcome
   from asked a left join kept k using (payout_id)
     left join used u on a.use <> 'rule' and u.assertion_id = a.assertion_id and u.item = a.item
   where k.payout_id is not null or a.is_too_high or u.item is not null`,
);

/**
 * Keeps by which request each payout is asked for. One statement, its own transaction.
 * @returns an outcome for each; undefined for those that are to be asked again.
 */
export async function keepProofs(
  db: Queryable,
  proofs: readonly HoldProof[],
): Promise<(KeptProof['outcome'] | undefined)[]> {
  const kept = new Map((await db.rows(keep, asked.values(proofs))).map(({ n, outcome }) => [n, outcome]));
  return proofs.map((_, i) => kept.get(i + 1));
}

const links = bulk({ id: 'payout_id text', assertion: 'assertion_id text' });

const replace = statement(
  'hold_proofs_replace',
  `update hold_proofs p set replaced = true from ${links.from('a')}, holds h
   where p.assertion_id = a.assertion_id and p.payout_id <> a.payout_id and p.use = 'link' and not p.replaced
     and h.payout_id = p.payout_id and h.state in ('released', 'refused', 'voided')`,
);

/** Frees the requests of claim links whose payouts came to nothing. What has ended so never pays. */
export async function freeLinks(db: Queryable, proofs: readonly HoldProof[]): Promise<void> {
  const given = proofs.filter(({ use }) => use === 'link');
  if (given.length > 0) await db.rows(replace, links.values(given));
}
