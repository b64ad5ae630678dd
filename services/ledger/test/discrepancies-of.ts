import { invariants } from '@quittance/reconciliation/invariants';
import type { Db } from '@quittance/shared/db';

/** The discrepancies of the ledger's own invariants, as production checks them, and between its own tables. */
export async function discrepanciesOf(admin: Db): Promise<string[]> {
  const found: string[] = [];
  for (const { number, sql } of invariants.filter((one) => ['I1', 'I2', 'I3'].includes(one.number))) {
    const rows = await admin.rows<{ what: string }>(sql);
    found.push(...rows.map(({ what }) => `${number}: ${what}`));
  }
  const waiting = await admin.rows<{ what: string }>(UNRESOLVED_DISAGREES);
  return [...found, ...waiting.map(({ what }) => what)];
}

/**
 * What waits for a decision, and what is on its way back, is the same in all three tables. Holds of parts, which are not the
 * deposit's payout, are compared by I3.
 */
const UNRESOLVED_DISAGREES = `
  select b.account_id || ' ' || b.asset || ' has ' || b.unresolved || ' unresolved, its open deposits sum to ' ||
    coalesce(u.amount, 0) as what
  from balances b left join (
    select account_id, asset, sum(amount) as amount from unresolved where state = 'open' group by 1, 2
  ) u using (account_id, asset)
  where b.unresolved <> coalesce(u.amount, 0)
  union all
  select 'deposit ' || deposit_id || ' is ' || u.state || ', the hold of payout ' || h.payout_id || ' is ' || h.state
  from unresolved u join holds h using (deposit_id)
  where u.state <> 'reversed' and u.payout_id = h.payout_id
    and (h.state = 'placed' and u.state <> 'returning' or h.state = 'settled' and u.state <> 'returned')`;
