import type { Invoice } from '@quittance/client';
import type { SessionStatus, WebhookAction } from './medusa.ts';

/** A session is captured when the money is in the merchant's balance. Before that a chain can still take a payment back. */
const statuses = {
  pending: 'pending',
  partially_paid: 'requires_more',
  confirmed: 'pending',
  paid: 'captured',
  expired: 'canceled',
} as const satisfies Record<Invoice['status'], SessionStatus>;

export const sessionStatus = ({ status }: Pick<Invoice, 'status'>): SessionStatus => statuses[status];

/** The events of Quittance that change a session; Medusa completes the cart at `captured` alone. */
const actions = new Map<string, WebhookAction['action']>([
  ['invoice.paid', 'captured'],
  ['invoice.confirmed', 'pending'],
  ['invoice.partially_paid', 'requires_more'],
  ['invoice.underpaid', 'requires_more'],
  ['invoice.expired', 'canceled'],
]);

export const webhookAction = (event: string): WebhookAction['action'] =>
  actions.get(event) ?? 'not_supported';
