import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import { formatUnits, units } from '@quittance/shared/money';
import { stalledAfterSeconds } from '@quittance/shared/stalled-payouts';
import { withOperator } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import type { Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

type Stalled = {
  id: string;
  asset: AssetSymbol;
  amount: string;
  address: string;
  status: string;
  createdAt: Date;
  halted: boolean;
  /** Why the signer refuses it for now. */
  refusedBecause: string | null;
};

const SHOWN_MAX = 50;

/** Payouts that are pending for longer than their chain takes when everything works, the oldest first. */
export const listStalledPayouts = (around: Surroundings): Promise<SaidOutcome> =>
  withOperator(around, 'operator', async (db) => {
    const seconds = assetSymbols.map((asset) => stalledAfterSeconds[assets[asset].chain]);
    const stalled = await db.rows<Stalled>(
      `select p.id::text, p.asset, p.amount::text, p.address, p.status, p.created_at as "createdAt",
         case when p.status = 'reserved' then p.signing_refused_because end as "refusedBecause",
         exists (select from payouts.halted_assets h where h.asset = p.asset and h.resumed_at is null) as halted
       from payouts.payouts p join unnest($1::text[], $2::int[]) as known(asset, seconds) using (asset)
       where coalesce(p.approved_at, p.created_at) < now() - seconds * interval '1 second' and (
         p.status in ('reserved', 'planned')
         or p.status in ('signed', 'broadcast') and p.id in (
           select m.payout_id from payouts.transactions t join payouts.payments m using (replacement_group)
           where t.state in ('signed', 'broadcast')))
       order by p.created_at, p.seq`,
      [assetSymbols, seconds],
    );
    const rows = stalled
      .slice(0, SHOWN_MAX)
      .map(({ id, asset, amount, address, createdAt, ...state }) => [
        id,
        assets[asset].chain,
        `${formatUnits(units(amount), assets[asset].decimals)} ${asset}`,
        address,
        shownState(state),
        minute(createdAt),
      ]);
    return {
      json: stalled.map(({ id, asset, amount, address, status, createdAt, halted, refusedBecause }) => ({
        id,
        chain: assets[asset].chain,
        asset,
        amount: formatUnits(units(amount), assets[asset].decimals),
        address,
        status,
        halted,
        refused_because: refusedBecause,
        created_at: createdAt,
      })),
      text:
        stalled.length === 0
          ? say`No payout is pending for longer than its chain takes.\n`
          : say`${table(['PAYOUT', 'CHAIN', 'AMOUNT', 'TO', 'STATUS', 'ASKED FOR'], rows)}
${stalled.length} payouts make no progress. To see the history of one: npx quittance payouts show ${stalled[0]?.id ?? ''}\n`,
      bad: stalled.length > 0,
    };
  });

function shownState({
  status,
  halted,
  refusedBecause,
}: Pick<Stalled, 'status' | 'halted' | 'refusedBecause'>) {
  if (halted) return `${status}, paused`;
  return refusedBecause === null ? status : `${status}, the signer refuses it: ${refusedBecause}`;
}
