import type { EventType } from '@quittance/client';

/** When each event is sent, in short; docs/webhooks.md has the rest. The types of the API know when one is missing. */
export const eventMeanings: Readonly<Record<EventType, string>> = {
  'invoice.created': 'An invoice was created.',
  'invoice.asset_chosen': 'The payer chose the asset.',
  'invoice.partially_paid': 'A first payment was seen, of less than the amount due.',
  'invoice.confirmed': 'The money has arrived and is not final. Do not ship yet.',
  'invoice.paid': 'The money is in your balance. Ship on this event only.',
  'invoice.overpaid': 'More was paid than the amount due.',
  'invoice.underpaid': 'It expired with a payment that is too small.',
  'invoice.expired': 'It expired without a payment, or you cancelled it.',
  'invoice.late_payment': 'A payment arrived after it had expired.',
  'invoice.unresolved_payment': 'A final payment is of another asset.',
  'invoice.payment_reversed': 'A payment that was seen is gone.',
  'payout.created': 'A payout was accepted.',
  'payout.completed': 'The recipient has the money.',
  'payout.failed': 'It is certain that it will not be carried out.',
  'automatic_payout.failed': 'An automatic payout could not be created.',
  'refund.expired': 'A claim link has ended without a payment.',
  'refund.unfunded': 'A customer claimed a refund that your balance does not cover.',
  'webhook.test': 'Somebody pressed “Test”.',
};

export const eventTypes = Object.keys(eventMeanings) as EventType[];

export const eventGroups: Readonly<Record<string, readonly EventType[]>> = {
  Invoices: eventTypes.filter((type) => type.startsWith('invoice.')),
  Payouts: eventTypes.filter((type) => /^(?:automatic_)?payout\./.test(type)),
  Refunds: eventTypes.filter((type) => type.startsWith('refund.')),
};

/** A new endpoint that names none receives all but these: see the default of `events` in the reference. */
const notByDefault: readonly EventType[] = [
  'invoice.asset_chosen',
  'invoice.partially_paid',
  'payout.created',
  'webhook.test',
];
export const defaultTypes = eventTypes.filter((type) => !notByDefault.includes(type));
