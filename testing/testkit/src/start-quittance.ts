import { randomBytes } from 'node:crypto';
import { assets, isAssetSymbol } from '@quittance/shared/assets';
import { systemClock } from '@quittance/shared/clock';
import { openDb } from '@quittance/shared/db';
import { services } from '@quittance/shared/events';
import { createLogger, reason } from '@quittance/shared/logger';
import { payFromFaucet } from '@quittance/stack/faucet';
import { openAccount } from '@quittance/stack/open-account';
import { unitsOf } from './customer.ts';
import { mineBlocks } from './mine-blocks.ts';
import type { Quittance, QuittanceOptions } from './public.ts';
import { startQuittance as startOwn } from './quittance.ts';
import type { StartedStack, StartOptions } from './started-stack.ts';

export type * from './public.ts';

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
  const end = async () => {
    try {
      await gateway.close();
    } finally {
      await stack.stop();
    }
  };
  const stop = () => {
    stopped ??= end();
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
    together: services,
    // A tester stops in the middle of things: what is on its way need not arrive first.
    checkBooks: false,
    checkAnswers: false,
  });
  return { url, adminUrl: stack.adminUrl, nodes: stack.nodes, hostSeenFromServices: '127.0.0.1', stop };
}
