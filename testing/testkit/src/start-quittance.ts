import { randomBytes } from 'node:crypto';
import { type AssetSymbol, assets, isAssetSymbol } from '@quittance/shared/assets';
import { systemClock } from '@quittance/shared/clock';
import { openDb } from '@quittance/shared/db';
import type { Service } from '@quittance/shared/events';
import { createLogger, reason } from '@quittance/shared/logger';
import { payFromFaucet } from '@quittance/stack/faucet';
import { openAccount } from '@quittance/stack/open-account';
import { unitsOf } from './customer.ts';
import { mineBlocks } from './mine-blocks.ts';
import { startQuittance as startOwn } from './quittance.ts';
import type { StartedStack, StartOptions } from './started-stack.ts';

/*
 * What testers of a shop use: testing/testkit/README.md. What is exported here changes only with a word in that README;
 * every other file of this package serves the project's own suites, and changes as they need it.
 */

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
  settings?: Partial<Record<Service, Record<string, string>>>;
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
  pay(asset: AssetSymbol, address: string, amount: string): Promise<string>;
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

const NODE_MIN = 24;
const CONFIRMATIONS_MAX = 1_000;
const BLOCKS_MAX = 10_000;

/**
 * Starts the whole of Quittance for the tests of a shop: real engines, nodes of real chains on which coins are worth
 * nothing, the five services, on ports and data of its own, so that several can run side by side.
 * @throws Error with one line that says what is missing: a Docker engine, an image, an engine's program
 */
export async function startQuittance(options: QuittanceOptions = {}): Promise<Quittance> {
  const wanted = checked(options);
  const stack =
    enginesOf(options) === 'containers'
      ? await (await import('./container-stack.ts')).startContainerStack(wanted)
      : await startEmbedded(wanted);
  const logger = createLogger('testkit', 'error');
  const gateway = openDb({ url: stack.adminUrl, schema: 'gateway', pool: 1, logger });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= gateway.close().finally(stack.stop);
    return stopped;
  };
  const merchant = async (name = `merchant ${randomBytes(4).toString('hex')}`) => {
    const { id, token } = await openAccount({ db: gateway, clock: systemClock }, name, 'testkit');
    return { account: id, token };
  };
  try {
    const { token } = await merchant('my shop');
    return {
      url: stack.url,
      token,
      nodes: stack.nodes,
      merchant,
      pay(asset, address, amount) {
        if (!isAssetSymbol(asset))
          throw new Error(`there is no asset ${asset}, only ${Object.keys(assets).join(', ')}`);
        return payFromFaucet(stack.nodes, asset, { to: address, amount: unitsOf(asset, amount) });
      },
      async mine(blocks = 1) {
        atMost('blocks', blocks, BLOCKS_MAX);
        await mineBlocks(stack.nodes, blocks);
      },
      hookUrl: (port, path = '/') => `http://${stack.hostSeenFromServices}:${port}${path}`,
      stop,
    };
  } catch (error) {
    // What kept it from starting is what matters.
    await stop().catch((left: unknown) => wanted.say(reason(left)));
    throw error;
  }
}

function enginesOf({ engines = process.env['QUITTANCE_ENGINES'] }: { engines?: string }) {
  if (engines === undefined || engines === '' || engines === 'embedded') return 'embedded';
  if (engines === 'containers') return 'containers';
  throw new Error(`engines (or QUITTANCE_ENGINES) is ${engines}: it may be embedded or containers`);
}

function checked(options: QuittanceOptions): StartOptions {
  const [major = ''] = process.versions.node.split('.');
  // eslint-disable-next-line no-restricted-syntax -- a version
  if (Number(major) < NODE_MIN)
    throw new Error(`Node ${NODE_MIN} or newer is needed, this is ${process.version}`);
  const { blockEverySeconds = 1, confirmations = 2, settings = {}, say = () => undefined, chains } = options;
  atMost('confirmations', confirmations, CONFIRMATIONS_MAX);
  if (!(blockEverySeconds >= 0))
    throw new Error(`blockEverySeconds is ${blockEverySeconds}: it may be 0 or more`);
  return { blockEverySeconds, confirmations, settings, say, ...(chains === undefined ? {} : { chains }) };
}

function atMost(what: string, count: number, max: number): void {
  if (!Number.isInteger(count) || count < 1 || count > max)
    throw new Error(`${what} is ${count}: it must be a whole number from 1 to ${max}`);
}

async function startEmbedded({ blockEverySeconds, ...wanted }: StartOptions): Promise<StartedStack> {
  const { url, stack, stop } = await startOwn({
    ...wanted,
    ...(blockEverySeconds === 0 ? {} : { blockEverySeconds }),
    // A tester stops in the middle of things: what is on its way need not arrive first.
    checkBooks: false,
  });
  return { url, adminUrl: stack.adminUrl, nodes: stack.nodes, hostSeenFromServices: '127.0.0.1', stop };
}
