/*
 * What testers of a shop use: docs/testkit.md. What is declared here changes only with a word in that document; every
 * other file of this package serves the project's own suites, and changes as they need it. This file imports nothing, so that
 * its types are whole in the package that is installed from npm.
 */

/** What invoices and payouts are in. A test compares them with the project's own list. */
export type Asset =
  | 'BTC'
  | 'ETH'
  | 'USDC_ERC20'
  | 'SOL'
  | 'USDC_SOL'
  | 'ETH_BASE'
  | 'USDC_BASE'
  | 'POL'
  | 'USDC_POLYGON';

/** Whose settings can be changed. */
export type ServiceName = 'gateway' | 'invoices' | 'payouts' | 'ledger' | 'webhooks' | 'signer' | 'auditor';

export type QuittanceOptions = {
  /**
   * `embedded`, the default: engines, chain nodes and services are processes of this machine; no Docker is needed.
   * `containers`: all of them are containers, as in production. When it is not given, QUITTANCE_ENGINES says which.
   */
  engines?: 'embedded' | 'containers';
  /** Chains beside Ethereum; fewer are up sooner. All that can be had when it is not given. */
  chains?: readonly ('bitcoin' | 'solana')[];
  /**
   * Seconds between the blocks of Ethereum and of Bitcoin, 1 when not given. With 0 there are none but those of `mine()`:
   * then nothing goes on that a test has not asked for. Solana's blocks always come by themselves, 20 a second.
   */
  blockEverySeconds?: number;
  /** Blocks, its own included, until a payment on Ethereum or Bitcoin is final: 1 to 1000; 2 when not given. */
  confirmations?: number;
  /**
   * More or other settings of a service, as docs/configure.md lists them. The limit of requests is out of the way here;
   * `{ gateway: { RATE_LIMIT_PER_MINUTE: '30' } }` brings it back.
   */
  settings?: Partial<Record<ServiceName, Record<string, string>>>;
  /** Told, in a line each, what has come up and what takes long, such as building images. */
  say?: (line: string) => void;
};

/** A merchant's account, and a token for its API: `Authorization: Bearer ${token}`. */
export type Merchant = { account: string; token: string };

/** Where the chains' nodes answer JSON-RPC. Bitcoin's URL holds a user and a password. */
export type ChainNodes = {
  /** anvil; `tokens` are contract addresses. */
  ethereum: { rpc: string; tokens: { USDC_ERC20: string } };
  /** Bitcoin Core, on a chain of its own (regtest). */
  bitcoin?: { rpc: string } | undefined;
  /** surfpool; `tokens` are mints. */
  solana?: { rpc: string; tokens: { USDC_SOL: string } } | undefined;
};

export type Quittance = {
  /** `http://127.0.0.1:PORT`: the API is below `${url}/api`, payment pages below `${url}/pay`. */
  readonly url: string;
  /** The token of an account that is there from the beginning. */
  readonly token: string;
  readonly nodes: ChainNodes;
  /** Another account with a token of its own: with it a test has balances, events and endpoints for itself. */
  merchant(name?: string): Promise<Merchant>;
  /**
   * Pays as a customer would, from a faucet that never runs dry, to any address.
   * @param amount decimal text in the asset's whole coins, such as `invoice.amount`: `'0.0125'`; never a double
   * @returns the transaction's hash. It is sent, and in no block yet (on Solana it is in one)
   * @throws Error when there is no such asset, no node of its chain, or `amount` has digits that the asset has not
   */
  pay(asset: Asset, address: string, amount: string): Promise<string>;
  /** So many more blocks on Ethereum and Bitcoin, at once. */
  mine(blocks?: number): Promise<void>;
  /**
   * What to register as a webhook's `url` for a server of this machine that listens on `port`. With `containers` it is
   * called from a container: listen on all interfaces, not on 127.0.0.1 alone.
   * @param path with its slash: `'/hook'`
   */
  hookUrl(port: number, path?: string): string;
  /** Ends everything and deletes its data. Call it in `after`, or the test run does not end. */
  stop(): Promise<void>;
};
