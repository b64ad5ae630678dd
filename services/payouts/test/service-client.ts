import { type AccountId, newAccountId, newTokenId, type TokenId } from '@quittance/shared/ids';
import type { FiatRate, Quote } from '@quittance/shared/quotes';
import { type ApiAnswer, api, gatewayKeys } from '@quittance/testkit/api';
import { aQuote } from '@quittance/testkit/builders';
import { hotAddressesOf } from '@quittance/testkit/scripted-signer';

export const PUBLIC_URL = 'http://pay.example';
/** Not anvil's own recovery phrase, whose accounts have money. */
export const SEED = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

export const environment = (databaseUrl: string, natsUrl: string): Record<string, string> => ({
  PORT: '1',
  DATABASE_URL: databaseUrl,
  NATS_URL: natsUrl,
  GATEWAY_PUBLIC_KEY: gatewayKeys.publicKey,
  CLAIM_LINKS_SECRET: 'x'.repeat(32),
  PUBLIC_URL,
  LOG_LEVEL: 'silent',
  ETHEREUM_RPC_URL: 'http://127.0.0.1:1',
  ETHEREUM_CHAIN_ID: '31337',
  ETHEREUM_EXPLORER_URL: 'https://scan.example/tx/{tx}',
  ETHEREUM_USDC_ADDRESS: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  ...hotAddressesOf(SEED),
});

/** Quotes that stay until a test changes them. */
export class TestBoard {
  readonly #quotes = new Map<string, Quote>();
  isFresh = true;
  /** The rates of now, by currency. */
  readonly fiatRates = new Map<string, FiatRate>();
  constructor() {
    this.set('ETH', {});
    this.set('USDC_ERC20', { network_fee: '1000000', dust: '10000' });
    this.set('BTC', { active: false });
  }
  set(asset: Quote['asset'], given: Partial<Quote>): void {
    this.#quotes.set(asset, aQuote({ asset, ...given }));
  }
  latest = (asset: string) => this.#quotes.get(asset);
  fresh = (asset: string) => (this.isFresh ? this.#quotes.get(asset) : undefined);
}

/** A merchant's client, with the identity that the gateway signs. */
export class Client {
  readonly account: AccountId;
  /** Of its API token. */
  readonly token: TokenId = newTokenId(new Date());
  readonly #service: () => { port: number };
  constructor(service: () => { port: number }, account: AccountId = newAccountId(new Date())) {
    this.#service = service;
    this.account = account;
  }

  /** The same merchant with another API token. */
  another(): Client {
    return new Client(this.#service, this.account);
  }

  get(path: string): Promise<ApiAnswer> {
    return this.#call('GET', path);
  }

  post(
    body: object | string,
    headers: Record<string, string> = {},
    path = '/api/payouts',
  ): Promise<ApiAnswer> {
    return this.#call('POST', path, body, headers);
  }

  put(path: string, body: object): Promise<ApiAnswer> {
    return this.#call('PUT', path, body);
  }

  delete(path: string): Promise<ApiAnswer> {
    return this.#call('DELETE', path);
  }

  #call(method: string, path: string, body?: unknown, headers = {}): Promise<ApiAnswer> {
    const { account, token } = this;
    return api(this.#service().port, method, path, { account, token, body, headers });
  }
}
