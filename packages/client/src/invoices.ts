import type { Api } from './api.ts';
import type { Answer, Body, CsvQuery, Item, Query } from './operations.ts';
import type { List, PageMeta } from './pages.ts';
import { path, type RequestOptions } from './transport.ts';

/** A request for a payment. Amounts are decimal texts in the asset, `amount_fiat` is in `currency`. */
export type Invoice = Answer<'getInvoice'>;
type Chosen = 'asset' | 'usd_rate' | 'rate' | 'amount' | 'amount_remaining' | 'address';
/** An invoice whose asset is known, so that it has an address and an amount due. */
export type PayableInvoice = Omit<Invoice, Chosen> & { [Name in Chosen]: NonNullable<Invoice[Name]> };
export type InvoiceListItem = Item<'listInvoices'>;
export type CreateInvoice = Body<'createInvoice'>;
export type InvoiceQuery = Query<'listInvoices'>;
export type InvoiceSettings = Answer<'getInvoiceSettings'>;
export type UpdateInvoiceSettings = Body<'updateInvoiceSettings'>;

export class Invoices {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * Creates an invoice and locks its rate. Send your customer to its `url`, and ship on the event `invoice.paid`.
   * @param invoice `amount` is in `currency`, which is US dollars unless your settings name another
   * @throws InvalidRequestError when a field is wrong; UnavailableError when a rate is not known now
   */
  create(invoice: CreateInvoice & { asset: string }, options?: RequestOptions): Promise<PayableInvoice>;
  create(invoice: CreateInvoice, options?: RequestOptions): Promise<Invoice>;
  create(invoice: CreateInvoice, options?: RequestOptions): Promise<never> {
    return this.#api.create('/api/invoices', invoice, options);
  }

  /** One invoice with its payments and refunds. @throws NotFoundError, PermissionError */
  retrieve(id: string, options?: RequestOptions): Promise<Invoice> {
    return this.#api.get(path`/api/invoices/${id}`, options);
  }

  /** Invoices, newest first. With `expand: 'payments'` each is whole, as `retrieve` answers it. */
  list(query: InvoiceQuery & { expand: 'payments' }, options?: RequestOptions): List<Invoice, PageMeta>;
  list(query?: InvoiceQuery, options?: RequestOptions): List<InvoiceListItem, PageMeta>;
  list(query?: InvoiceQuery, options?: RequestOptions): List<never, PageMeta> {
    return this.#api.list('/api/invoices', query, options);
  }

  /** All invoices that the filters match as a CSV file, as it arrives. A file that breaks off is an error of the stream. */
  csv(query?: CsvQuery<'listInvoices'>, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#api.csv('/api/invoices', query, options);
  }

  /** Ends an invoice for which no payment was seen. @throws InvalidRequestError `not_cancelable` when one was */
  cancel(id: string, options?: RequestOptions): Promise<Invoice> {
    return this.#api.send('POST', path`/api/invoices/${id}/cancel`, undefined, options);
  }
}

/** What new invoices of the account have where a request says nothing. */
export class AccountInvoiceSettings {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  retrieve(options?: RequestOptions): Promise<InvoiceSettings> {
    return this.#api.get('/api/invoice-settings', options);
  }

  /** Changes the settings that are named. Existing invoices keep what they have. */
  update(changes: UpdateInvoiceSettings, options?: RequestOptions): Promise<InvoiceSettings> {
    return this.#api.send('PATCH', '/api/invoice-settings', changes, options);
  }
}
