import type { PayloadOf } from '@quittance/shared/events';
import { type EventId, newDepositId, newEventId } from '@quittance/shared/ids';
import { parseRate, type Rate, type Units } from '@quittance/shared/money';
import type { FiatRate, Quote } from '@quittance/shared/quotes';

/** An event as NATS delivers it, with an id of its own unless one is given. */
export const anEventOf = <K extends string, P>(
  kind: K,
  payload: P,
  { at = new Date(), id = newEventId(at) }: { at?: Date; id?: string } = {},
) => ({ id: id as EventId, kind, created_at: at.toISOString(), request_id: null, payload });

/** What the ledger says of an asset: Ether at 2500 dollars where nothing else is given. */
export const aQuote = (given: Partial<Quote> = {}, at = new Date()): Quote => ({
  asset: 'ETH',
  active: true,
  usd_rate: '2500',
  network_fee: '500000000000000',
  min_confirmations: 3,
  dust: '10000000000000',
  sources: [{ name: 'file', usd_rate: given.usd_rate ?? '2500', read_at: at.toISOString() }],
  spread_bps: 0,
  as_of: at.toISOString(),
  ...given,
});

/** The rate that a text writes. */
export function aRate(text: string): Rate {
  const rate = parseRate(text);
  if (!rate.ok) throw new Error(`no rate: ${text}`);
  return rate.value;
}

/** A currency's rate of one source. */
export const aFiatRate = (currency: FiatRate['currency'], usdRate: string, at = new Date()): FiatRate => ({
  currency,
  usd_rate: usdRate,
  sources: [{ name: 'file', usd_rate: usdRate, read_at: at.toISOString() }],
  spread_bps: 0,
  as_of: at.toISOString(),
});

/** Shows the quotes of a map as they are now; a test says when none of them is fresh. */
export const boardOf = (quotes: ReadonlyMap<string, Quote>, isFresh = () => true) => ({
  latest: (asset: string) => quotes.get(asset),
  fresh: (asset: string) => (isFresh() ? quotes.get(asset) : undefined),
});

/** What invoices publishes about a settled deposit, in Ether where nothing else is given. */
export function aSettledDeposit(
  given: Partial<PayloadOf<'deposit.settled'>> &
    Pick<PayloadOf<'deposit.settled'>, 'account_id' | 'amount' | 'outpoint'>,
): PayloadOf<'deposit.settled'> {
  return {
    deposit_id: newDepositId(new Date()),
    invoice_id: 'inv_1',
    asset: 'ETH',
    address: '0x0000000000000000000000000000000000000001',
    derivation_index: 1,
    tx_hash: null,
    block_height: 1,
    block_hash: '0x01',
    disposition: 'credit',
    ...given,
  };
}

const nothing = 0n as Units;
/** The totals of an invoice without payments. */
export const noPayments = {
  timelyFinal: nothing,
  timelyPending: nothing,
  timelyCredited: nothing,
  lateFinal: nothing,
  latePending: nothing,
  timelyWaiting: nothing,
  lateWaiting: nothing,
  reversed: nothing,
  isAwaited: false,
  unsettled: 0,
  unsettledUncounted: 0,
  lost: 0,
  isReversalUnreported: false,
  isTimelyUnreported: false,
  isLateUnreported: false,
};
