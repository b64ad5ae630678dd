import type { Api } from './api.ts';
import type { Answer, Body, Item, Query } from './operations.ts';
import type { List, PageMeta } from './pages.ts';
import { path, type RequestOptions } from './transport.ts';

/** A page that can be paid any number of times: each payment is an invoice of its own. */
export type PaymentLink = Answer<'getPaymentLink'>;
export type CreatePaymentLink = Body<'createPaymentLink'>;
export type UpdatePaymentLink = Body<'updatePaymentLink'>;

export class PaymentLinks {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Creates a link. Share its `url`. */
  create(link: CreatePaymentLink, options?: RequestOptions): Promise<PaymentLink> {
    return this.#api.create('/api/payment-links', link, options);
  }

  retrieve(id: string, options?: RequestOptions): Promise<PaymentLink> {
    return this.#api.get(path`/api/payment-links/${id}`, options);
  }

  /** Links, newest first. `invoices.list({ payment_link_id })` has their invoices. */
  list(
    query?: Query<'listPaymentLinks'>,
    options?: RequestOptions,
  ): List<Item<'listPaymentLinks'>, PageMeta> {
    return this.#api.list('/api/payment-links', query, options);
  }

  /** Changes how many invoices of the link may be open. */
  update(id: string, changes: UpdatePaymentLink, options?: RequestOptions): Promise<PaymentLink> {
    return this.#api.send('PATCH', path`/api/payment-links/${id}`, changes, options);
  }

  /** Ends the link. What was begun can still be paid. */
  deactivate(id: string, options?: RequestOptions): Promise<PaymentLink> {
    return this.#api.send('POST', path`/api/payment-links/${id}/deactivate`, undefined, options);
  }
}
