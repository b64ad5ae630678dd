import type { EventKind, events } from '@quittance/shared/events';

type FromServices = {
  [K in EventKind]: 'webhooks' extends (typeof events)[K]['to'][number] ? K : never;
}[EventKind];

/** The types of events that merchants can receive. */
export type WebhookEventType = FromServices | 'webhook.test';

/** Whether an endpoint without a list of events receives a type: the contract's five, and those that need an action. */
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
