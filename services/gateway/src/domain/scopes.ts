import { operationOf } from './routes.ts';

/** What an API token may be allowed to do. `x:write` includes `x:read`. */
export const scopes = {
  'invoices:read': 'Read invoices, payment links and the volume of days.',
  'invoices:write': 'Create, change and cancel invoices and payment links.',
  'refunds:read': 'Read refunds.',
  'refunds:write': 'Refund invoices, and cancel refunds. Moves money.',
  'payouts:read': 'Read payouts, batches, automatic payouts and quotes, and which assets are halted.',
  'payouts:write': 'Create and cancel payouts and batches, and set automatic payouts. Moves money.',
  'payouts:approve': 'Approve and reject payouts that others have requested.',
  'policy:read': 'Read the payout policy and the address book.',
  'policy:write':
    'Change the payout policy and the address book. What allows more waits for the delay of the policy.',
  'balances:read': 'Read balances, balance transactions and statements.',
  'unresolved:read': 'Read unresolved funds.',
  'unresolved:write': 'Accept unresolved funds, or return them to an address. Moves money.',
  'webhooks:read': 'Read endpoints and deliveries.',
  'webhooks:write':
    'Create, change, test and delete endpoints, and send deliveries again. An endpoint receives the contents of events.',
  'events:read': 'Read and follow the event log, which has invoices, refunds and payouts.',
  'mail:read': 'Read who is told by e-mail what happens.',
  'mail:write':
    'Add, change and remove who is told by e-mail. An e-mail has descriptions and amounts of invoices and payouts.',
  'settings:read': 'Read the settings of new invoices.',
  'settings:write': 'Change them, such as the tolerance for payments that are too small.',
  'tokens:read': 'Read the API tokens of the account.',
  'tokens:write': 'Create, rotate and revoke API tokens.',
  'requests:read': 'Read which requests of the account have failed.',
  'audit:read': 'Read the audit log of the account: who has changed what, and from which address.',
} as const satisfies Record<`${string}:${'read' | 'write' | 'approve'}`, string>;

export type Scope = keyof typeof scopes;

export const scopeNames = Object.keys(scopes) as Scope[];

/** Of operations that tell nothing of the account: every valid token may call them. */
export const ANY_TOKEN = 'any token';

/**
 * Which scope each operation needs, by its method and its route in `routes.ts`. A request whose operation is missing here is
 * never let through. HEAD needs what GET needs.
 */
export const scopeOfOperation = {
  'GET /api/assets': ANY_TOKEN,

  'GET /api/invoices': 'invoices:read',
  'POST /api/invoices': 'invoices:write',
  'GET /api/invoices/:id': 'invoices:read',
  'POST /api/invoices/:id/cancel': 'invoices:write',
  'GET /api/volume': 'invoices:read',
  'POST /api/sandbox/payments': 'invoices:write',
  'GET /api/payment-links': 'invoices:read',
  'POST /api/payment-links': 'invoices:write',
  'GET /api/payment-links/:id': 'invoices:read',
  'PATCH /api/payment-links/:id': 'invoices:write',
  'POST /api/payment-links/:id/deactivate': 'invoices:write',

  'POST /api/invoices/:id/refunds': 'refunds:write',
  'GET /api/refunds': 'refunds:read',
  'GET /api/refunds/:id': 'refunds:read',
  'POST /api/refunds/:id/cancel': 'refunds:write',

  'GET /api/payouts': 'payouts:read',
  'POST /api/payouts': 'payouts:write',
  'GET /api/payouts/quote': 'payouts:read',
  'GET /api/payouts/:id': 'payouts:read',
  'GET /api/payouts/:id/attempts': 'payouts:read',
  'POST /api/payouts/:id/cancel': 'payouts:write',
  'POST /api/payouts/:id/approve': 'payouts:approve',
  'POST /api/payouts/:id/reject': 'payouts:approve',
  'GET /api/halted-assets': 'payouts:read',
  'GET /api/payout-policy': 'policy:read',
  'PUT /api/payout-policy': 'policy:write',
  'GET /api/address-book': 'policy:read',
  'POST /api/address-book': 'policy:write',
  'DELETE /api/address-book/:id': 'policy:write',
  'GET /api/payout-batches': 'payouts:read',
  'POST /api/payout-batches': 'payouts:write',
  'GET /api/payout-batches/:id': 'payouts:read',
  'GET /api/automatic-payouts': 'payouts:read',
  'PUT /api/automatic-payouts/:asset': 'payouts:write',
  'DELETE /api/automatic-payouts/:asset': 'payouts:write',

  'GET /api/balances': 'balances:read',
  'GET /api/balance-transactions': 'balances:read',
  'GET /api/statements': 'balances:read',

  'GET /api/unresolved': 'unresolved:read',
  'GET /api/unresolved/:id': 'unresolved:read',
  'POST /api/unresolved/:id/accept': 'unresolved:write',
  'POST /api/unresolved/:id/return': 'unresolved:write',

  'GET /api/webhooks': 'webhooks:read',
  'POST /api/webhooks': 'webhooks:write',
  'GET /api/webhooks/:id': 'webhooks:read',
  'PATCH /api/webhooks/:id': 'webhooks:write',
  'DELETE /api/webhooks/:id': 'webhooks:write',
  'POST /api/webhooks/:id/enable': 'webhooks:write',
  'POST /api/webhooks/:id/disable': 'webhooks:write',
  'POST /api/webhooks/:id/rotate': 'webhooks:write',
  'POST /api/webhooks/:id/test': 'webhooks:write',
  'POST /api/webhooks/:id/replay': 'webhooks:write',
  'GET /api/webhooks/:id/deliveries': 'webhooks:read',
  'GET /api/deliveries/:id': 'webhooks:read',
  'POST /api/deliveries/:id/redeliver': 'webhooks:write',

  'GET /api/events': 'events:read',
  'GET /api/events/stream': 'events:read',
  'GET /api/events/:id': 'events:read',

  'GET /api/mail-recipients': 'mail:read',
  'POST /api/mail-recipients': 'mail:write',
  'GET /api/mail-recipients/:id': 'mail:read',
  'PATCH /api/mail-recipients/:id': 'mail:write',
  'DELETE /api/mail-recipients/:id': 'mail:write',
  'POST /api/mail-recipients/:id/code': 'mail:write',
  'POST /api/mail-recipients/:id/confirm': 'mail:write',
  'POST /api/mail-recipients/:id/test': 'mail:write',

  'GET /api/invoice-settings': 'settings:read',
  'PATCH /api/invoice-settings': 'settings:write',

  'GET /api/tokens': 'tokens:read',
  'POST /api/tokens': 'tokens:write',
  'GET /api/tokens/:id': 'tokens:read',
  'DELETE /api/tokens/:id': 'tokens:write',
  'POST /api/tokens/:id/rotate': 'tokens:write',

  'GET /api/requests': 'requests:read',
  'GET /api/audit-log': 'audit:read',
} as const satisfies Record<string, Scope | typeof ANY_TOKEN>;

/** Undefined of an operation that is not in the table. */
export function scopeNeeded(method: string, pattern: string): Scope | typeof ANY_TOKEN | undefined {
  const needed: Readonly<Record<string, Scope | typeof ANY_TOKEN | undefined>> = scopeOfOperation;
  return needed[operationOf(method, pattern)];
}

/** @param held null: all there are */
export const holds = (held: readonly Scope[] | null, needed: Scope): boolean =>
  held === null || held.includes(needed) || held.includes(needed.replace(/:read$/, ':write') as Scope);
