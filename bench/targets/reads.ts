import { type Merchant, merchant } from '@quittance/testkit/merchant';
import type { Benchmark } from '../benchmark.ts';
import { drive } from '../drive.ts';
import { processesOf } from '../lab.ts';
import { startStub } from '../stub.ts';

const CLIENTS = 32;
const SECONDS = 3;
const shared = {
  yardstick: 'a stub gateway (token, limit in Redis, proxy) in front of an express stub, the same clients',
  unit: 'requests/s',
};

export const readInvoice: Benchmark = {
  name: 'invoice-read',
  what: 'GET /api/invoices/{id} through the gateway, 32 clients.',
  target: { atLeast: 0.6 },
  ...shared,
  setUp: (lab) =>
    readOf(lab, async (shop) => {
      const made = await shop.post('/api/invoices', { asset: 'ETH', amount: 25 });
      return `/api/invoices/${made.body.data.id}`;
    }),
};

export const readBalances: Benchmark = {
  name: 'balances-read',
  what: 'GET /api/balances of all assets through the gateway, 32 clients.',
  target: { atLeast: 0.5 },
  ...shared,
  setUp: (lab) => readOf(lab, async () => '/api/balances'),
};

async function readOf(
  lab: Parameters<Benchmark['setUp']>[0],
  pathOf: (shop: Merchant) => Promise<string>,
): ReturnType<Benchmark['setUp']> {
  const quittance = await lab.quittance();
  const shop = await quittance.merchant();
  const path = await pathOf(shop);
  const body = JSON.stringify((await shop.get(path)).body);
  const upstream = await startStub('upstream.ts', [body]);
  const gateway = await startStub('gateway.ts', [upstream.url, quittance.stack.engines.redis?.url ?? '']);
  const bare = merchant(gateway.url, 'stub', 'token');
  const read = async (from: Merchant) => {
    const answer = await from.get(path);
    if (answer.status !== 200) throw new Error(`GET ${path} answers ${answer.status}`);
  };
  return {
    ours: () => drive(() => read(shop), CLIENTS, SECONDS),
    theirs: () => drive(() => read(bare), CLIENTS, SECONDS),
    async close() {
      await gateway.engine.stop();
      await upstream.engine.stop();
    },
    processes: processesOf(quittance),
  };
}
