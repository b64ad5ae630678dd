import type { Example, Operation } from '@quittance/shared/reference';
import { operations as activity } from '../../services/gateway/src/reference/activity.ts';
import { examples as ofGateway } from '../../services/gateway/src/reference/examples.ts';
import { examples as ofPasskeys } from '../../services/gateway/src/reference/passkey-examples.ts';
import { operations as passkeys } from '../../services/gateway/src/reference/passkeys.ts';
import { operations as people } from '../../services/gateway/src/reference/people.ts';
import { examples as ofPeople } from '../../services/gateway/src/reference/people-examples.ts';
import {
  examples as ofSandbox,
  operations as sandbox,
} from '../../services/gateway/src/reference/sandbox.ts';
import { operations as signIn } from '../../services/gateway/src/reference/sign-in.ts';
import { operations as tokens } from '../../services/gateway/src/reference/tokens.ts';
import { examples as ofInvoices } from '../../services/invoices/src/reference/examples.ts';
import { operations as invoices } from '../../services/invoices/src/reference/invoices.ts';
import { operations as paymentLinks } from '../../services/invoices/src/reference/payment-links.ts';
import { operations as volume } from '../../services/invoices/src/reference/volume.ts';
import { operations as balances } from '../../services/ledger/src/reference/balances.ts';
import { examples as ofLedger } from '../../services/ledger/src/reference/examples.ts';
import { operations as unresolved } from '../../services/ledger/src/reference/unresolved.ts';
import { examples as ofPayouts } from '../../services/payouts/src/reference/examples.ts';
import { operations as payoutGroups } from '../../services/payouts/src/reference/payout-groups.ts';
import { operations as payoutPolicy } from '../../services/payouts/src/reference/payout-policy.ts';
import { operations as payouts } from '../../services/payouts/src/reference/payouts.ts';
import { operations as refunds } from '../../services/payouts/src/reference/refunds.ts';
import { operations as endpoints } from '../../services/webhooks/src/reference/endpoints.ts';
import { operations as events } from '../../services/webhooks/src/reference/events.ts';
import { examples as ofWebhooks } from '../../services/webhooks/src/reference/examples.ts';
import { examples as ofMail } from '../../services/webhooks/src/reference/mail-examples.ts';
import { operations as mailRecipients } from '../../services/webhooks/src/reference/mail-recipients.ts';

/** Every operation of the API, in the order of the reference. */
export const operations: readonly Operation[] = [
  ...invoices,
  ...volume,
  ...paymentLinks,
  ...refunds,
  ...payouts,
  ...payoutGroups,
  ...payoutPolicy,
  ...balances,
  ...unresolved,
  ...endpoints,
  ...events,
  ...mailRecipients,
  ...tokens,
  ...activity,
  ...signIn,
  ...passkeys,
  ...people,
  ...sandbox,
];

/** The examples of the operations by their names. */
export const examples: Readonly<Record<string, Example>> = {
  ...ofInvoices,
  ...ofPayouts,
  ...ofLedger,
  ...ofWebhooks,
  ...ofMail,
  ...ofGateway,
  ...ofPeople,
  ...ofPasskeys,
  ...ofSandbox,
};
