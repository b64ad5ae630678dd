import type { Api } from './api.ts';
import type { Answer, CsvQuery, Item, Query } from './operations.ts';
import { type List, transactionList } from './pages.ts';
import type { RequestOptions } from './transport.ts';

export type Asset = Item<'listAssets'>;
/** What can be spent of one asset, and what pending payouts hold. */
export type Balance = Item<'listBalances'>;
/** One movement of what can be spent. `net` = `amount` − `fee`, decimal texts in the asset. */
export type BalanceTransaction = Item<'listBalanceTransactions'>;
/** One month of one asset. */
export type Statement = Answer<'getStatement'>;

/** The assets that can be used now. */
export class Assets {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** With rate and network fee. */
  list(options?: RequestOptions): Promise<Asset[]> {
    return this.#api.getData('/api/assets', options);
  }
}

export class Balances {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** One entry for each asset, also for those with nothing. */
  list(options?: RequestOptions): Promise<Balance[]> {
    return this.#api.getData('/api/balances', options);
  }
}

export class BalanceTransactions {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Movements, newest first. With `ending_before` the list goes on towards newer ones: name the `asset` then. */
  list(
    query?: Query<'listBalanceTransactions'>,
    options?: RequestOptions,
  ): List<BalanceTransaction, undefined> {
    return transactionList(this.#api.transport, '/api/balance-transactions', query, options);
  }

  /** All movements that the filters match as a CSV file, as it arrives. */
  csv(
    query?: CsvQuery<'listBalanceTransactions'>,
    options?: RequestOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    return this.#api.csv('/api/balance-transactions', query, options);
  }
}

export class Statements {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** One month (UTC) of one asset: it agrees with the balance transactions to the unit once it is `complete`. */
  retrieve(query: Query<'getStatement'>, options?: RequestOptions): Promise<Statement> {
    return this.#api.get('/api/statements', options, query);
  }

  /** The same as the text of a CSV file, or as a page to print, which loads nothing. */
  text(format: 'csv' | 'html', query: Query<'getStatement'>, options?: RequestOptions): Promise<string> {
    return this.#api.transport.text({
      method: 'GET',
      path: '/api/statements',
      query: { ...query, format },
      accept: `text/${format}`,
      options,
    });
  }
}
