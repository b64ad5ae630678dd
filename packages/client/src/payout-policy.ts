import type { Api } from './api.ts';
import type { Answer, Body, Data, Item, Query } from './operations.ts';
import type { List, PageMeta } from './pages.ts';
import { path, type RequestOptions } from './transport.ts';

/** What an account allows of its payouts: an allow-list, limits and approvals. */
export type PayoutPolicy = Answer<'getPayoutPolicy'>;
export type PutPayoutPolicy = Body<'putPayoutPolicy'>;

export class AccountPayoutPolicy {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  retrieve(options?: RequestOptions): Promise<PayoutPolicy> {
    return this.#api.get('/api/payout-policy', options);
  }

  /**
   * Replaces the policy: what is not given has no limit. What it allows more than before is allowed after the delay of the
   * policy, and shown in `next` until then.
   */
  put(policy: PutPayoutPolicy, options?: RequestOptions): Promise<PayoutPolicy> {
    return this.#api.send('PUT', '/api/payout-policy', policy, options);
  }
}

/** An address to which an allow-list lets payouts through from `usable_at` on. */
export type PayoutAddress = Data<'addAddress'>;
export type AddAddress = Body<'addAddress'>;

export class AddressBook {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Adds an address. Giving one again changes its label alone. */
  add(address: AddAddress, options?: RequestOptions): Promise<PayoutAddress> {
    return this.#api.send('POST', '/api/address-book', address, options);
  }

  /** The addresses, newest first. */
  list(query?: Query<'listAddressBook'>, options?: RequestOptions): List<Item<'listAddressBook'>, PageMeta> {
    return this.#api.list('/api/address-book', query, options);
  }

  /** Deletes an address at once. Payouts that were created stay. */
  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.#api.delete(path`/api/address-book/${id}`, options);
  }
}
