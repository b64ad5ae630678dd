import type { Api } from './api.ts';
import type { Answer, Body, CsvQuery, Data, Item, Query } from './operations.ts';
import type { List, PageMeta } from './pages.ts';
import { path, type RequestOptions } from './transport.ts';

/** Received funds that are in no balance: late, too little, or of another asset. */
export type UnresolvedFunds = Answer<'getUnresolved'>;
export type ReturnUnresolved = Body<'returnUnresolved'>;
/** The payout's `id`, or with `claim: true` a refund with its `claim_url`. */
export type ReturnedUnresolved = Data<'returnUnresolved'>;

export class Unresolved {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  retrieve(id: string, options?: RequestOptions): Promise<UnresolvedFunds> {
    return this.#api.get(path`/api/unresolved/${id}`, options);
  }

  /** Unresolved funds, newest first. Collect those with the status `open` before you decide about them. */
  list(query?: Query<'listUnresolved'>, options?: RequestOptions): List<Item<'listUnresolved'>, PageMeta> {
    return this.#api.list('/api/unresolved', query, options);
  }

  /** All that the filters match as a CSV file, as it arrives. */
  csv(query?: CsvQuery<'listUnresolved'>, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#api.csv('/api/unresolved', query, options);
  }

  /** Credits the funds to the balance. @throws ConflictError `already_resolved` */
  accept(id: string, options?: RequestOptions): Promise<UnresolvedFunds> {
    return this.#api.send('POST', path`/api/unresolved/${id}/accept`, undefined, options);
  }

  /**
   * Pays the funds back, less the network fee: to an `address`, or with `claim: true` by a link for your customer.
   * @param how `amount` is in the asset of the funds; without it all that is left
   * @throws ConflictError `already_resolved`; InvalidRequestError `refund_too_large`
   */
  return(id: string, how: ReturnUnresolved, options?: RequestOptions): Promise<ReturnedUnresolved> {
    return this.#api.create(path`/api/unresolved/${id}/return`, how, options);
  }
}
