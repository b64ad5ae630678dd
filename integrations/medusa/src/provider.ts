import { type CreateInvoice, InvalidRequestError, type Invoice, Quittance } from '@quittance/client';
import { amountText } from './amount.ts';
import type {
  MedusaAmount,
  PricedInput,
  ProviderInput,
  SessionData,
  SessionStatus,
  Webhook,
  WebhookAction,
} from './medusa.ts';
import { sessionStatus, webhookAction } from './payment-status.ts';

export type QuittanceOptions = {
  /** Where Quittance runs, such as `https://pay.example.com`. */
  url: string;
  /** An API token of the shop's account. */
  token: string;
  /** `whsec_…` of the endpoint `/hooks/payment/quittance_ID` of this shop; several while they are being changed. */
  webhookSecret: string | readonly string[];
  /** What the customer may pay with: symbols of assets. Default: all that are active. */
  assets?: 'all' | readonly string[];
  /** How many minutes the customer has to pay. Default: the account's setting. */
  expiresIn?: number;
  /**
   * Sends the customer the link of a refund, such as by e-mail. Medusa's data of a payment is no place for it: the storefront can
   * read it, and the link is enough to claim the refund. Without it, refunds are made in Quittance.
   */
  onClaimLink?: (refund: ClaimLink) => void | Promise<void>;
};

export type ClaimLink = {
  refundId: string;
  /** In the currency of the session. */
  amount: string;
  currency: string;
  claimUrl: string;
  sessionId: string;
  invoiceId: string;
};

/** Medusa queues a webhook before it is verified here. An old one does no harm: what it says is read again. */
const WEBHOOK_AGE_MAX_SECONDS = 7 * 86_400;

/** The session of an invoice, in its metadata: other invoices of the account are none of Medusa's business. */
const SESSION = 'medusa_session_id';

/**
 * Payments of a Medusa shop with Quittance. A payment session is an invoice: the storefront sends the customer to `data.url`. The
 * webhook `invoice.paid` completes the cart, also when the customer never comes back.
 */
export class QuittancePaymentProvider {
  static readonly identifier: string = 'quittance';
  readonly #client: Quittance;
  readonly #options: QuittanceOptions;

  /** @throws Error when an option is missing. Medusa calls it at its start. */
  static validateOptions(options: Partial<QuittanceOptions>): void {
    for (const name of ['url', 'token', 'webhookSecret'] as const) {
      if (options[name] === undefined || options[name] === '')
        throw new Error(`@quittance/medusa-payment: the option ${name} is missing in medusa-config`);
    }
  }

  constructor(_container: unknown, options: QuittanceOptions) {
    QuittancePaymentProvider.validateOptions(options);
    this.#client = new Quittance({ url: options.url, token: options.token });
    this.#options = options;
  }

  getIdentifier(): string {
    return QuittancePaymentProvider.identifier;
  }

  /** Creates the invoice of a session. Repeating it creates no second one. */
  async initiatePayment(
    input: PricedInput,
  ): Promise<{ id: string; status: SessionStatus; data: SessionData }> {
    const session = sessionOf(input.data);
    const invoice = await this.#create(session, input, session);
    return { id: invoice.id, status: sessionStatus(invoice), data: dataOf(session, invoice) };
  }

  /**
   * Another price needs another invoice, because an invoice never changes.
   * @throws Error when a payment of the former price was seen
   */
  async updatePayment(input: PricedInput): Promise<{ status: SessionStatus; data: SessionData }> {
    const session = sessionOf(input.data);
    const invoice = await this.#invoiceOf(input, session);
    const isSame =
      invoice.currency === input.currency_code.toUpperCase() &&
      invoice.amount_fiat === asFiat(amountText(input.amount, input.currency_code));
    if (isSame && invoice.status !== 'expired')
      return { status: sessionStatus(invoice), data: dataOf(session, invoice) };
    await this.#end(invoice);
    const price = `${amountText(input.amount, input.currency_code)} ${input.currency_code}`;
    const next = await this.#create(session, input, `${session}:${invoice.id}:${price}`);
    return { status: sessionStatus(next), data: dataOf(session, next) };
  }

  /**
   * Captured when the invoice is paid, and nothing of it was refunded or reversed. The storefront can change the data of a session, and Medusa asks here whether the goods are
   * paid: so the session is the one that Medusa itself names, and a paid invoice of another order pays nothing.
   * @throws Error when the invoice is not of this session
   */
  async authorizePayment(input: ProviderInput): Promise<{ status: SessionStatus; data: SessionData }> {
    const session = sessionOf({ session_id: input.context?.idempotency_key });
    const invoice = await this.#invoiceOf(input, session);
    const isWhole = invoice.refunded_amount === '0' && invoice.reversed_amount === '0';
    return { status: isWhole ? sessionStatus(invoice) : 'error', data: dataOf(session, invoice) };
  }

  /** A paid invoice is in the balance already. @throws Error when it is not paid */
  async capturePayment(input: ProviderInput): Promise<{ data: SessionData }> {
    const invoice = await this.#invoiceOf(input);
    if (invoice.status !== 'paid')
      throw new Error(`The invoice ${invoice.id} is ${invoice.status}, not paid.`);
    return { data: { ...input.data, ...stateOf(invoice) } };
  }

  /**
   * Refunds by a claim link, where the customer gives an address; `onClaimLink` sends it. When that fails, the refund is cancelled.
   * @throws Error when nothing sends the link, and what `onClaimLink` throws
   */
  async refundPayment(input: ProviderInput & { amount: MedusaAmount }): Promise<{ data: SessionData }> {
    const { onClaimLink } = this.#options;
    if (onClaimLink === undefined)
      throw new Error('The option onClaimLink is missing: refund in Quittance, or let it send the link.');
    const invoice = await this.#invoiceOf(input);
    const amount = amountText(input.amount, invoice.currency);
    const key = input.context?.idempotency_key;
    const options = key === undefined ? {} : { idempotencyKey: `refund:${key}` };
    const { id, claim_url } = await this.#client.refunds.create(invoice.id, { amount }, options);
    if (claim_url == null) throw new Error(`The link of the refund ${id} is lost: cancel it in Quittance.`);
    try {
      await onClaimLink({
        refundId: id,
        amount,
        currency: invoice.currency,
        claimUrl: claim_url,
        sessionId: sessionOf(input.data),
        invoiceId: invoice.id,
      });
    } catch (error) {
      await this.#client.refunds.cancel(id);
      throw error;
    }
    const former = Array.isArray(input.data?.['refunds']) ? input.data['refunds'] : [];
    const refunds = [...former.filter((one: { id?: unknown }) => one.id !== id), { id, amount }];
    return { data: { ...input.data, ...stateOf(invoice), refunds } };
  }

  /** Ends the invoice. @throws Error when a payment of it was seen: what is paid is refunded, not cancelled */
  async cancelPayment(input: ProviderInput): Promise<{ data: SessionData }> {
    const invoice = await this.#invoiceOf(input);
    await this.#end(invoice);
    return { data: { ...input.data, status: 'expired' } };
  }

  deletePayment(input: ProviderInput): Promise<{ data: SessionData }> {
    return this.cancelPayment(input);
  }

  async getPaymentStatus(input: ProviderInput): Promise<{ status: SessionStatus; data: SessionData }> {
    const invoice = await this.#invoiceOf(input);
    return { status: sessionStatus(invoice), data: { ...input.data, ...stateOf(invoice) } };
  }

  async retrievePayment(input: ProviderInput): Promise<{ data: SessionData }> {
    const invoice = await this.#invoiceOf(input);
    return { data: { ...input.data, ...stateOf(invoice) } };
  }

  /** @throws WebhookVerificationError when the webhook is not from Quittance */
  async getWebhookActionAndData({ rawData, headers }: Webhook): Promise<WebhookAction> {
    const given = headers as Record<string, string | undefined>;
    const event = await this.#client.webhooks.verify(rawData, given, this.#options.webhookSecret, {
      toleranceSeconds: WEBHOOK_AGE_MAX_SECONDS,
    });
    const { metadata, amount_fiat } = event.data as Partial<Invoice>;
    const session = metadata?.[SESSION];
    if (session === undefined || amount_fiat === undefined) return { action: 'not_supported' };
    return { action: webhookAction(event.event), data: { session_id: session, amount: amount_fiat } };
  }

  async #create(
    session: string,
    { amount, currency_code, data }: PricedInput,
    idempotencyKey: string,
  ): Promise<Invoice> {
    const { assets = 'all', expiresIn } = this.#options;
    const currency = currency_code.toUpperCase() as NonNullable<CreateInvoice['currency']>;
    const order: CreateInvoice = {
      assets: assets as NonNullable<CreateInvoice['assets']>,
      amount: amountText(amount, currency_code),
      currency,
      external_id: session,
      metadata: { [SESSION]: session },
      ...(expiresIn === undefined ? {} : { expires_in: expiresIn }),
      ...urlOf(data, 'succeed_url'),
      ...urlOf(data, 'timeout_url'),
    };
    return await this.#client.invoices.create(order, { idempotencyKey });
  }

  /** @throws Error when the invoice that the data names is not of the session */
  async #invoiceOf({ data }: ProviderInput, session = sessionOf(data)): Promise<Invoice> {
    const id = data?.['invoice_id'];
    if (typeof id !== 'string') throw new Error('The payment session has no invoice: initiate it again.');
    const invoice = await this.#client.invoices.retrieve(id);
    if (invoice.metadata[SESSION] !== session)
      throw new Error(`The invoice ${id} is not of the payment session ${session}.`);
    return invoice;
  }

  async #end({ id, status }: Invoice): Promise<void> {
    if (status === 'expired') return;
    try {
      await this.#client.invoices.cancel(id);
    } catch (error) {
      if (!(error instanceof InvalidRequestError && error.code === 'not_cancelable')) throw error;
      const after = await this.#client.invoices.retrieve(id);
      if (after.status === 'expired') return;
      const hint = after.status === 'paid' ? 'Refund it instead.' : 'Wait until it is paid or has expired.';
      throw new Error(`A payment of the invoice ${id} was seen, so it cannot be cancelled. ${hint}`);
    }
  }
}

function sessionOf(data: SessionData | undefined): string {
  const session = data?.['session_id'];
  if (typeof session === 'string') return session;
  throw new Error('Medusa gave no id of the payment session.');
}

const stateOf = ({ status, paid_at }: Invoice) => ({ status, paid_at });

/** What the storefront needs: where to send the customer, and how far the payment is. */
const dataOf = (session: string, invoice: Invoice): SessionData => ({
  session_id: session,
  invoice_id: invoice.id,
  url: invoice.url,
  amount: invoice.amount_fiat,
  currency: invoice.currency,
  expires_at: invoice.expires_at,
  ...stateOf(invoice),
});

/** `amount_fiat` has two decimals in every currency. */
const asFiat = (amount: string): string => (amount.includes('.') ? amount : `${amount}.00`);

/** A page of the storefront that the customer returns to. */
const urlOf = (data: SessionData | undefined, name: 'succeed_url' | 'timeout_url') =>
  typeof data?.[name] === 'string' ? { [name]: data[name] } : {};
