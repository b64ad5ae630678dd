import type { EventKind, events } from '@quittance/shared/events';

type Told = {
  [K in EventKind]: 'webhooks' extends (typeof events)[K]['to'][number] ? K : never;
}[EventKind];

/** An event that merchants can be told of. */
export type WebhookEventType = Told | 'webhook.test';

/** Whether an endpoint is told of a kind when it names none: the contract's five are, and all that needs somebody to act. */
const isDefault = {
  'invoice.created': true,
  'invoice.confirmed': true,
  'invoice.paid': true,
  'invoice.expired': true,
  'payout.completed': true,

  'payout.failed': true,
  'invoice.underpaid': true,
  'invoice.overpaid': true,
  'invoice.late_payment': true,
  'invoice.payment_reversed': true,

  'invoice.partially_paid': false,
  'payout.created': false,
  'webhook.test': false,
} as const satisfies Record<WebhookEventType, boolean>;

export const eventTypes = Object.keys(isDefault) as WebhookEventType[];

export const defaultEventTypes = eventTypes.filter((kind) => isDefault[kind]);
