import { assets } from '@quittance/shared/assets';
import { csvTable, number, numberOrNothing } from '@quittance/shared/csv';
import { formatUnits, units } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';
import { shownAs } from './domain/states.ts';
import type { ExportedPayout } from './store/payout-list.ts';
import { payoutView } from './views.ts';

const nothing = units(0n);

/**
 * What a payout has cost for good, so that a failed one is never summed by mistake: nothing while it is pending, and of a failed one
 * the network fee if the chain took it.
 */
function paidOf({ asset, status, amount, networkFee, feeKept }: ExportedPayout) {
  const shown = (paid: typeof amount, fee: typeof amount) => ({
    amount_paid: formatUnits(paid, assets[asset].decimals),
    fee_paid: formatUnits(fee, assets[asset].decimals),
  });
  const as = shownAs[status];
  switch (as) {
    case 'mined':
      return shown(amount, networkFee);
    case 'failed':
      return shown(nothing, feeKept ? networkFee : nothing);
    case 'pending':
    case null:
      return shown(nothing, nothing);
    default:
      return assertNever(as);
  }
}

/** The payouts of an account, one row each. `docs/api.md` describes the columns. */
export const payoutsTable = csvTable(
  (payout: ExportedPayout) => ({ ...payoutView(payout), ...paidOf(payout) }),
  {
    id: ({ id }) => String(id),
    external_id: ({ external_id }) => external_id,
    created_at: ({ created_at }) => created_at,
    completed_at: ({ completed_at }) => completed_at,
    status: ({ status }) => status,
    asset: ({ asset }) => asset.symbol,
    amount: ({ amount }) => number(amount),
    network_fee: ({ network_fee }) => number(network_fee),
    total: ({ total }) => number(total),
    amount_paid: ({ amount_paid }) => number(amount_paid),
    fee_paid: ({ fee_paid }) => number(fee_paid),
    usd_rate: ({ usd_rate }) => numberOrNothing(usd_rate),
    usd_value: ({ usd_value }) => numberOrNothing(usd_value),
    to_address: ({ to_address }) => to_address,
    tx_hash: ({ tx_hash }) => tx_hash,
    deposit_id: ({ deposit_id }) => deposit_id,
    refund_id: ({ refund_id }) => refund_id,
    invoice_id: ({ invoice_id }) => invoice_id,
    batch_id: ({ batch_id }) => batch_id,
    failed_reason: ({ failed_reason }) => failed_reason,
    metadata: ({ metadata }) => JSON.stringify(metadata),
    automatic: ({ automatic }) => String(automatic),
    failed_at: ({ failed_at }) => failed_at,
  },
);
