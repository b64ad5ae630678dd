import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import type { Ports } from '../ports.ts';
import { describedHolds } from '../store/described-holds.ts';

/** What the ledger knows of payouts that are to be signed: their holds, and what the balances behind them rest on. */
export async function describeHolds(
  { db }: Pick<Ports, 'db'>,
  { holds }: RequestOf<'holds.describe'>,
): Promise<ReplyOf<'holds.describe'>> {
  const described = await describedHolds(
    db,
    holds.map(({ payout_id: id, deposits_since: since }) => ({
      id,
      since: since === null ? null : new Date(since),
    })),
  );
  return {
    holds: described.map((hold) => ({
      payout_id: hold.id,
      account_id: hold.account,
      asset: hold.asset,
      amount: hold.amount.toString(),
      network_fee: hold.networkFee.toString(),
      destination: hold.destination,
      is_placed: hold.state === 'placed',
      available: hold.available.toString(),
      deposited_since: hold.depositedSince.toString(),
    })),
  };
}
