import { AuditLog, Requests } from './activity.ts';
import { Api } from './api.ts';
import { Assets, Balances, BalanceTransactions, Statements } from './balances.ts';
import { Events } from './events.ts';
import { AccountInvoiceSettings, Invoices } from './invoices.ts';
import { MailRecipients } from './mail-recipients.ts';
import { Operator } from './operator.ts';
import { PaymentLinks } from './payment-links.ts';
import { AccountPayoutPolicy, AddressBook } from './payout-policy.ts';
import { AutomaticPayouts, PayoutBatches, Payouts } from './payouts.ts';
import { Invitations, Me, People, Sessions } from './people.ts';
import { Refunds } from './refunds.ts';
import { Sandbox } from './sandbox.ts';
import { Tokens } from './tokens.ts';
import { type ClientOptions, Transport } from './transport.ts';
import { Unresolved } from './unresolved.ts';
import { Volume } from './volume.ts';
import { Deliveries, Webhooks } from './webhooks.ts';

export type * from './activity.ts';
export type * from './balances.ts';
// biome-ignore-start lint/performance/noBarrelFile: the one entry of a package that is installed from npm
export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  EventGapError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  QuittanceError,
  RateLimitError,
  ServerError,
  UnavailableError,
  WebhookVerificationError,
} from './errors.ts';
export type * from './events.ts';
export type * from './invoices.ts';
export { isPayable } from './invoices.ts';
export type * from './mail-recipients.ts';
export type * from './operator.ts';
export type * from './operator-views.ts';
export type * from './pages.ts';
export type * from './payment-links.ts';
export type * from './payout-policy.ts';
export type * from './payouts.ts';
export type * from './people.ts';
export type * from './refunds.ts';
export type * from './sandbox.ts';
export type { Scope } from './scopes.ts';
export { scopeMeanings } from './scopes.ts';
export type * from './tokens.ts';
export type { ClientOptions, RequestOptions } from './transport.ts';
export type * from './unresolved.ts';
export { verifyWebhook } from './verify-webhook.ts';
export type * from './volume.ts';
export type * from './webhooks.ts';
// biome-ignore-end lint/performance/noBarrelFile: the one entry of a package that is installed from npm

/**
 * The API of Quittance. Amounts are decimal texts, never floating-point numbers. Requests that failed and may be repeated are
 * sent again, those that create something with one Idempotency-Key, so that nothing is created twice. Every error is a
 * `QuittanceError`.
 */
export class Quittance {
  readonly addressBook: AddressBook;
  readonly assets: Assets;
  readonly auditLog: AuditLog;
  readonly automaticPayouts: AutomaticPayouts;
  readonly balances: Balances;
  readonly balanceTransactions: BalanceTransactions;
  readonly deliveries: Deliveries;
  readonly events: Events;
  readonly invitations: Invitations;
  readonly invoices: Invoices;
  readonly invoiceSettings: AccountInvoiceSettings;
  readonly mailRecipients: MailRecipients;
  readonly me: Me;
  /** For operators of the installation, who have signed in. */
  readonly operator: Operator;
  readonly paymentLinks: PaymentLinks;
  readonly payoutBatches: PayoutBatches;
  readonly payoutPolicy: AccountPayoutPolicy;
  readonly payouts: Payouts;
  readonly people: People;
  readonly refunds: Refunds;
  readonly requests: Requests;
  /** For tests in a sandbox. */
  readonly sandbox: Sandbox;
  readonly sessions: Sessions;
  readonly statements: Statements;
  readonly tokens: Tokens;
  readonly unresolved: Unresolved;
  readonly volume: Volume;
  readonly webhooks: Webhooks;

  /** @throws TypeError when `url` or `token` is missing or malformed, or both `token` and `session` are given */
  constructor(options: ClientOptions) {
    const api = new Api(new Transport(options));
    this.addressBook = new AddressBook(api);
    this.assets = new Assets(api);
    this.auditLog = new AuditLog(api);
    this.automaticPayouts = new AutomaticPayouts(api);
    this.balances = new Balances(api);
    this.balanceTransactions = new BalanceTransactions(api);
    this.deliveries = new Deliveries(api);
    this.events = new Events(api);
    this.invitations = new Invitations(api);
    this.invoices = new Invoices(api);
    this.invoiceSettings = new AccountInvoiceSettings(api);
    this.mailRecipients = new MailRecipients(api);
    this.me = new Me(api);
    this.operator = new Operator(api);
    this.paymentLinks = new PaymentLinks(api);
    this.payoutBatches = new PayoutBatches(api);
    this.payoutPolicy = new AccountPayoutPolicy(api);
    this.payouts = new Payouts(api);
    this.people = new People(api);
    this.refunds = new Refunds(api);
    this.requests = new Requests(api);
    this.sandbox = new Sandbox(api);
    this.sessions = new Sessions(api);
    this.statements = new Statements(api);
    this.tokens = new Tokens(api);
    this.unresolved = new Unresolved(api);
    this.volume = new Volume(api);
    this.webhooks = new Webhooks(api);
  }
}
