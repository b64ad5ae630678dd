import type { Api } from './api.ts';
import type { Answer, Body, Data, Item, Query } from './operations.ts';
import type { List, PageMeta } from './pages.ts';
import { path, type RequestOptions } from './transport.ts';

/** Money of an invoice that is paid back, to an address or by a claim link. Amounts are decimal texts in the asset. */
export type Refund = Answer<'getRefund'>;
/** With `claim_url`, which is shown this once. */
export type CreatedRefund = Data<'refundInvoice'>;
export type CreateRefund = Body<'refundInvoice'>;

export class Refunds {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * Refunds an invoice. Without an `address` the answer has a `claim_url`: send it to your customer alone.
   * @param refund `amount` is `'all'`, `'surplus'`, or a number in the currency of the invoice
   * @throws InvalidRequestError `nothing_to_refund`, `refund_too_large` or `insufficient_balance`
   */
  create(invoiceId: string, refund: CreateRefund, options?: RequestOptions): Promise<CreatedRefund> {
    return this.#api.create(path`/api/invoices/${invoiceId}/refunds`, refund, options);
  }

  retrieve(id: string, options?: RequestOptions): Promise<Refund> {
    return this.#api.get(path`/api/refunds/${id}`, options);
  }

  /** Refunds, newest first. */
  list(query?: Query<'listRefunds'>, options?: RequestOptions): List<Item<'listRefunds'>, PageMeta> {
    return this.#api.list('/api/refunds', query, options);
  }

  /** Ends a claim link that nobody has used. @throws InvalidRequestError `not_cancelable` */
  cancel(id: string, options?: RequestOptions): Promise<Refund> {
    return this.#api.send('POST', path`/api/refunds/${id}/cancel`, undefined, options);
  }
}
