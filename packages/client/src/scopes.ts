// Written by tools/generate-docs.ts from the document of the API, services/gateway/openapi.json.
import type { components } from './api-types.ts';

/** What an API token may be allowed to do. */
export type Scope = components['schemas']['Scope'];

/** What each scope allows, in English. */
export const scopeMeanings: Readonly<Record<Scope, string>> = {
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
};
