import type { Api } from './api.ts';
import type { Answer, Body, CsvQuery, Data, Item, Query } from './operations.ts';
import type { List, PageMeta } from './pages.ts';
import { path, type RequestOptions } from './transport.ts';

/** Money that is sent from the balance to an address. Amounts are decimal texts in the asset. */
export type Payout = Answer<'getPayout'>;
export type CreatePayout = Body<'createPayout'>;
/** What the API answers when a payout was created. `retrieve` has the rest. */
export type CreatedPayout = Data<'createPayout'>;
/** A transaction that was signed for a payout. */
export type PayoutAttempt = Item<'listPayoutAttempts'>;
/** An asset of which nothing is paid out at the moment. */
export type HaltedAsset = Item<'listHaltedAssets'>;
export type PayoutQuote = Answer<'quotePayout'>;

export class Payouts {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * Creates a payout: `amount` and network fee are held from the balance. It cannot be taken back once it is signed.
   * @param payout `amount` is in the asset, as a text, or `'max'` for all that the balance has after the network fee
   * @throws InvalidRequestError `insufficient_balance`; UnavailableError: nothing was done; ServerError or ConnectionError:
   *   it is not known, so repeat it with the `idempotencyKey` of the error
   */
  create(payout: CreatePayout, options?: RequestOptions): Promise<CreatedPayout> {
    return this.#api.create('/api/payouts', payout, options);
  }

  retrieve(id: number | string, options?: RequestOptions): Promise<Payout> {
    return this.#api.get(path`/api/payouts/${id}`, options);
  }

  /** Payouts, newest first. */
  list(query?: Query<'listPayouts'>, options?: RequestOptions): List<Item<'listPayouts'>, PageMeta> {
    return this.#api.list('/api/payouts', query, options);
  }

  /** The transactions that were signed for a payout, the newest last. At most one is ever mined. */
  attempts(id: number | string, options?: RequestOptions): Promise<PayoutAttempt[]> {
    return this.#api.getData(path`/api/payouts/${id}/attempts`, options);
  }

  /** All payouts that the filters match as a CSV file, as it arrives. */
  csv(query?: CsvQuery<'listPayouts'>, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#api.csv('/api/payouts', query, options);
  }

  /**
   * Cancels a payout that is not signed. While the worker of its chain has not decided, the answer is still `pending`: wait
   * for the event `payout.failed`.
   * @throws InvalidRequestError `not_cancelable`
   */
  cancel(id: number | string, options?: RequestOptions): Promise<Payout> {
    return this.#api.send('POST', path`/api/payouts/${id}/cancel`, undefined, options);
  }

  /**
   * Approves a payout that waits for it, with another token than the one that has requested it. With the last approval it is
   * sent.
   * @throws ConflictError when the token has requested it, or when it is decided
   */
  approve(id: number | string, options?: RequestOptions): Promise<Payout> {
    return this.#api.send('POST', path`/api/payouts/${id}/approve`, undefined, options);
  }

  /** Rejects a payout that waits for an approval: it fails within seconds, and its money returns to the balance. */
  reject(id: number | string, options?: RequestOptions): Promise<Payout> {
    return this.#api.send('POST', path`/api/payouts/${id}/reject`, undefined, options);
  }

  /** The assets of which nothing is paid out at the moment, for all accounts: usually none. */
  haltedAssets(options?: RequestOptions): Promise<HaltedAsset[]> {
    return this.#api.getData('/api/halted-assets', options);
  }

  /** What a payout would cost now. Nothing is held. */
  quote(query: Query<'quotePayout'>, options?: RequestOptions): Promise<PayoutQuote> {
    return this.#api.get('/api/payouts/quote', options, query);
  }
}

/** Many payouts in one request, with how each line ended. */
export type PayoutBatch = Answer<'getPayoutBatch'>;
export type CreatePayoutBatch = Body<'createPayoutBatch'>;

export class PayoutBatches {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Creates 1 to 500 payouts. With the mode `each` read `totals`: a line that could not be paid is no error. */
  create(batch: CreatePayoutBatch, options?: RequestOptions): Promise<PayoutBatch> {
    return this.#api.create('/api/payout-batches', batch, options);
  }

  /** The same from a CSV file of at most 64 kB, whose first line names the columns. */
  createFromCsv(
    csv: string,
    query: { mode: CreatePayoutBatch['mode'] },
    options?: RequestOptions,
  ): Promise<PayoutBatch> {
    return this.#api.transport.data({
      method: 'POST',
      path: '/api/payout-batches',
      query,
      body: csv,
      contentType: 'text/csv',
      takesKey: true,
      options,
    });
  }

  retrieve(id: string, options?: RequestOptions): Promise<PayoutBatch> {
    return this.#api.get(path`/api/payout-batches/${id}`, options);
  }

  /** Batches without their lines, newest first. */
  list(
    query?: Query<'listPayoutBatches'>,
    options?: RequestOptions,
  ): List<Item<'listPayoutBatches'>, PageMeta> {
    return this.#api.list('/api/payout-batches', query, options);
  }
}

/** A rule that pays out all of a balance, daily or from an amount on. */
export type AutomaticPayout = Data<'putAutomaticPayout'>;
export type PutAutomaticPayout = Body<'putAutomaticPayout'>;

export class AutomaticPayouts {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  list(options?: RequestOptions): Promise<AutomaticPayout[]> {
    return this.#api.getData('/api/automatic-payouts', options);
  }

  /** Creates or replaces the rule of an asset. */
  put(asset: string, rule: PutAutomaticPayout, options?: RequestOptions): Promise<AutomaticPayout> {
    return this.#api.send('PUT', path`/api/automatic-payouts/${asset}`, rule, options);
  }

  /** Deletes the rule of an asset. Payouts that it created stay. */
  delete(asset: string, options?: RequestOptions): Promise<void> {
    return this.#api.delete(path`/api/automatic-payouts/${asset}`, options);
  }
}
