import { assets } from '@quittance/shared/assets';
import { formatUnits, sum, type Units, units } from '@quittance/shared/money';
import type { Ports } from '../ports.ts';
import type { Payout } from '../store/payouts.ts';

/**
 * What all payouts of the refused line's asset need together, and what the balance has for them: what it has now and what the
 * holds of this batch have taken of it. Undefined when the ledger does not say it.
 * @param placed those whose holds are placed
 */
export async function batchNeeds(
  { bus }: Pick<Ports, 'bus'>,
  { account, asset }: Pick<Payout, 'account' | 'asset'>,
  payouts: readonly Payout[],
  placed: readonly Payout[],
): Promise<string | undefined> {
  const asked = await bus.ask('balance.read', { account_id: account, asset });
  if (!asked.known) return undefined;
  const ofAsset = (all: readonly Payout[]) => all.filter((one) => one.asset === asset);
  const costOf = (all: readonly Payout[]) => sum(ofAsset(all).flatMap((one) => [one.amount, one.networkFee]));
  const text = (value: Units) => formatUnits(value, assets[asset].decimals);
  const has = text(sum([units(asked.reply.available), costOf(placed)]));
  const fees = text(sum(ofAsset(payouts).map(({ networkFee }) => networkFee)));
  return (
    `${has} ${asset} is available and ${text(costOf(payouts))} ${asset} is needed for the ${ofAsset(payouts).length} payouts ` +
    `of this batch in ${asset}: ${fees} of it is network fees. Nothing was paid.`
  );
}
