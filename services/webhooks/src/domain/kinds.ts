import type { EventKind, events } from '@quittance/shared/events';

type Told = {
  [K in EventKind]: 'webhooks' extends (typeof events)[K]['to'][number] ? K : never;
}[EventKind];

/** An event that merchants can be told of. */
export type TellableKind = Told | 'webhook.test';

/** Whether an endpoint is told of a kind when it names none: the contract's five are, the others must be named. */
const toldByDefault = {
  'invoice.created': true,
  'invoice.confirmed': true,
  'invoice.paid': true,
  'invoice.expired': true,
  'payout.completed': true,

  'invoice.partially_paid': false,
  'invoice.underpaid': false,
  'invoice.overpaid': false,
  'invoice.late_payment': false,
  'invoice.payment_reversed': false,
  'payout.created': false,
  'payout.failed': false,
  'webhook.test': false,
} as const satisfies Record<TellableKind, boolean>;

export const tellableKinds = Object.keys(toldByDefault) as TellableKind[];

export const defaultKinds = tellableKinds.filter((kind) => toldByDefault[kind]);
