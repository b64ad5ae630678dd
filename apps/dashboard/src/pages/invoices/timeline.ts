import type {
  BalanceTransaction,
  Invoice,
  Payout,
  QuittanceEvent,
  Refund,
  UnresolvedFunds,
} from '@quittance/client';
import { grouped } from '../../parts/decimal.ts';
import { reasonText } from '../unresolved/reason.ts';

/** Which part of the system says that something happened. */
export type TimelineSource = 'Invoice' | 'Chain' | 'Ledger' | 'Payouts' | 'Event';
export type TimelineEntry = {
  at: string;
  title: string;
  source: TimelineSource;
  detail?: string;
  tone: 'gray' | 'blue' | 'green' | 'yellow' | 'red';
  to?: string;
};

/** What each service knows of an invoice. What the reader may not read is missing. */
export type InvoiceRecords = {
  invoice: Invoice;
  events?: readonly QuittanceEvent[] | undefined;
  transactions?: readonly BalanceTransaction[] | undefined;
  payouts?: readonly Payout[] | undefined;
  refunds?: readonly Refund[] | undefined;
  unresolved?: readonly UnresolvedFunds[] | undefined;
};

type Words = { title: string; tone: TimelineEntry['tone'] };

/** Events that tell what no field of a record has. */
const eventWords: Readonly<Record<string, Words>> = {
  'invoice.asset_chosen': { title: 'The payer chose the asset', tone: 'blue' },
  'invoice.partially_paid': { title: 'Paid in part', tone: 'yellow' },
  'invoice.confirmed': { title: 'Enough has arrived, and waits for its confirmations', tone: 'blue' },
  'invoice.paid': { title: 'Paid', tone: 'green' },
  'invoice.expired': { title: 'Expired', tone: 'gray' },
  'invoice.underpaid': { title: 'Expired with less than was due', tone: 'yellow' },
  'invoice.overpaid': { title: 'More than was due has arrived', tone: 'yellow' },
  'invoice.late_payment': { title: 'A payment came too late', tone: 'yellow' },
  'invoice.unresolved_payment': { title: 'A payment in another asset arrived', tone: 'yellow' },
  'invoice.payment_reversed': { title: 'The chain took a payment back', tone: 'red' },
  'refund.expired': { title: 'A claim link ended without a payment', tone: 'gray' },
  'refund.unfunded': { title: 'A refund was claimed that the balance does not cover', tone: 'red' },
};
export const timelineEvents = Object.keys(eventWords) as QuittanceEvent['event'][];

const transactionWords: Readonly<Record<BalanceTransaction['type'], Words>> = {
  payment: { title: 'credited to the balance', tone: 'green' },
  payment_reversal: { title: 'taken from the balance, because the chain took a payment back', tone: 'red' },
  payment_recovery: { title: 'credited again', tone: 'green' },
  unresolved_accepted: { title: 'accepted into the balance', tone: 'green' },
  payout: { title: 'taken from the balance for a payout', tone: 'gray' },
  payout_failed: { title: 'returned to the balance, because a payout failed', tone: 'gray' },
  payout_voided: { title: 'returned to the balance', tone: 'gray' },
  refund: { title: 'taken from the balance for a refund, with its network fee', tone: 'gray' },
  refund_failed: { title: 'returned to the balance, because a refund failed', tone: 'gray' },
  refund_voided: { title: 'returned to the balance', tone: 'gray' },
};

type Shown = (amount: string, asset: string) => string;

/**
 * Everything that happened to an invoice, newest first.
 * @param nameOf how an asset is called
 */
export function timelineOf(records: InvoiceRecords, nameOf: (asset: string) => string): TimelineEntry[] {
  const shown: Shown = (amount, asset) => `${grouped(amount)} ${nameOf(asset)}`;
  const { invoice, transactions = [], payouts = [], refunds = [], unresolved = [] } = records;
  const entries = [
    ...ofInvoice(invoice, records.events ?? []),
    ...ofPayments(invoice, shown),
    ...transactions.map((one) => ofTransaction(one, shown)),
    ...unresolved.flatMap((one) => ofUnresolved(one, shown)),
    ...refunds.map((one) => ofRefund(one, shown)),
    ...payouts.flatMap((one) => ofPayout(one, shown)),
  ];
  // The clock of a chain may be behind ours: nothing comes before the invoice. What happened at one moment stays in this order.
  const begin = Date.parse(invoice.created_at);
  const moment = ({ at }: TimelineEntry) => Math.max(begin, Date.parse(at));
  return entries.toSorted((a, b) => moment(a) - moment(b)).reverse();
}

function ofInvoice(invoice: Invoice, events: readonly QuittanceEvent[]): TimelineEntry[] {
  const told = events.filter(({ event }) => event in eventWords);
  const isTold = (...types: string[]) => told.some(({ event }) => types.includes(event));
  const field = (at: string | null, title: string, tone: TimelineEntry['tone']): TimelineEntry[] =>
    at === null ? [] : [{ at, title, tone, source: 'Invoice' }];
  return [
    ...field(invoice.created_at, 'Created', 'blue'),
    ...told.map(
      ({ event, created_at: at }): TimelineEntry => ({
        at,
        source: 'Event',
        detail: event,
        title: eventWords[event]?.title ?? event,
        tone: eventWords[event]?.tone ?? 'gray',
      }),
    ),
    ...field(invoice.cancelled_at, 'Cancelled', 'gray'),
    ...(isTold('invoice.paid') ? [] : field(invoice.paid_at, 'Paid', 'green')),
    ...(invoice.status === 'expired' && invoice.cancelled_at === null && !isTold('invoice.expired')
      ? field(invoice.expires_at, 'Expired', 'gray')
      : []),
  ];
}

const ofPayments = ({ payments, asset }: Invoice, shown: Shown): TimelineEntry[] =>
  payments.flatMap((payment): TimelineEntry[] => {
    const amount = shown(payment.amount, payment.asset ?? asset?.symbol ?? '');
    const seen = {
      at: payment.first_seen_at,
      title: `A payment of ${amount} was seen`,
      tone: 'blue',
    } as const;
    const final = `The payment of ${amount} is final`;
    return [
      { ...seen, source: 'Chain' },
      ...(payment.confirmed_at === null
        ? []
        : [{ at: payment.confirmed_at, title: final, tone: 'green', source: 'Chain' } as const]),
    ];
  });

function ofTransaction(
  { type, net, asset, balance_after, created_at }: BalanceTransaction,
  shown: Shown,
): TimelineEntry {
  const { title, tone } = transactionWords[type];
  return {
    at: created_at,
    source: 'Ledger',
    title: `${shown(net.replace(/^-/, ''), asset.symbol)} ${title}`,
    detail: `Balance afterwards: ${shown(balance_after, asset.symbol)}`,
    tone,
  };
}

function ofUnresolved(funds: UnresolvedFunds, shown: Shown): TimelineEntry[] {
  const { id, status, asset, amount, reason, created_at, resolved_at } = funds;
  const to = `/unresolved/${id}`;
  const what = shown(amount, asset.symbol);
  const waits: TimelineEntry = {
    at: created_at,
    source: 'Ledger',
    title: `${what} ${status === 'open' ? 'waits' : 'waited'} for your decision`,
    tone: 'yellow',
    to,
    ...(reason === null ? {} : { detail: reasonText(reason) }),
  };
  const decided: Readonly<Record<string, string>> = {
    returning: 'is being returned',
    returned: 'was returned',
    reversed: 'was taken back by the chain',
  };
  // The balance transaction of what was accepted says so.
  const words = decided[status];
  if (resolved_at === null || words === undefined) return [waits];
  return [waits, { at: resolved_at, source: 'Ledger', title: `${what} ${words}`, tone: 'gray', to }];
}

const ofRefund = ({ amount, asset, expires_at, created_at }: Refund, shown: Shown): TimelineEntry => ({
  at: created_at,
  source: 'Payouts',
  title: `A refund of ${shown(amount, asset.symbol)} was created`,
  detail: expires_at === null ? 'To an address' : 'By a claim link',
  tone: 'yellow',
});

function ofPayout(
  { id, amount, asset, created_at, completed_at, failed_at, failed_reason }: Payout,
  shown: Shown,
): TimelineEntry[] {
  const what = `The payout of ${shown(amount, asset.symbol)}`;
  const entry = (
    at: string | null,
    title: string,
    tone: TimelineEntry['tone'],
    detail?: string,
  ): TimelineEntry[] =>
    at === null
      ? []
      : [{ at, title, tone, source: 'Payouts', to: `/payouts/${id}`, ...(detail ? { detail } : {}) }];
  return [
    ...entry(created_at, `${what} was requested`, 'blue'),
    ...entry(completed_at, `${what} is done`, 'green'),
    ...entry(failed_at, `${what} failed`, 'red', failed_reason),
  ];
}
