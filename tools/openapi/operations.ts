import type { Operation } from '@quittance/shared/reference';
import { operations as invoices } from '../../services/invoices/src/reference/invoices.ts';
import { operations as paymentLinks } from '../../services/invoices/src/reference/payment-links.ts';
import { operations as balances } from '../../services/ledger/src/reference/balances.ts';
import { operations as unresolved } from '../../services/ledger/src/reference/unresolved.ts';
import { operations as payoutGroups } from '../../services/payouts/src/reference/payout-groups.ts';
import { operations as payouts } from '../../services/payouts/src/reference/payouts.ts';
import { operations as refunds } from '../../services/payouts/src/reference/refunds.ts';
import { operations as endpoints } from '../../services/webhooks/src/reference/endpoints.ts';
import { operations as events } from '../../services/webhooks/src/reference/events.ts';

/** Every operation of the API, in the order of the reference. */
export const operations: readonly Operation[] = [
  ...invoices,
  ...paymentLinks,
  ...refunds,
  ...payouts,
  ...payoutGroups,
  ...balances,
  ...unresolved,
  ...endpoints,
  ...events,
];
