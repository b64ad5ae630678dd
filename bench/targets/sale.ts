import { sleep } from '@quittance/shared/clock';
import type { Quittance } from '@quittance/testkit/quittance';
import { startReceiver } from '@quittance/testkit/receiver';
import type { Benchmark, Sample } from '../benchmark.ts';
import { processesOf } from '../lab.ts';
import { cpuSeconds } from '../processes.ts';
import { openTpcB } from '../yardsticks/tpc-b.ts';

const SALES = 100;
const AT_ONCE = 10;
const HALF = '0.005';
const WITHIN_MS = 40_000;
const LOOK_EVERY_MS = 50;
const IDLE_MS = 4_000;
const TPC_B_SECONDS = 3;
const MICROSECONDS = 1e6;

export const cpuOfSale: Benchmark = {
  name: 'sale',
  what: 'CPU of a sale in all services, Postgres and NATS: an invoice, two payments of halves on Ethereum, the credits, and the webhooks. `idle`: what the same processes use meanwhile without sales, which is taken off.',
  yardstick: 'CPU of one TPC-B transaction in Postgres',
  target: { atMost: 40 },
  unit: 'µs of CPU',
  rounds: 2,
  warmUp: false,
  async setUp(lab) {
    const quittance = await lab.quittance();
    const { postgres } = quittance.stack.engines;
    const tpcB = await openTpcB(postgres.url);
    const receiver = await startReceiver();
    return {
      ours: () => salesOf(quittance, receiver),
      async theirs() {
        const before = cpuSeconds(postgres.pid ?? 0);
        const { operations = 1 } = await tpcB.measure(TPC_B_SECONDS);
        return { figure: ((cpuSeconds(postgres.pid ?? 0) - before) / operations) * MICROSECONDS };
      },
      close: receiver.close,
      processes: processesOf(quittance),
    };
  },
};

async function salesOf(
  quittance: Quittance,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
): Promise<Sample> {
  const pids = Object.values(processesOf(quittance)).filter((pid) => pid !== undefined);
  const cpu = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const shop = await quittance.merchant();
  const registered = await shop.post('/api/webhooks', { url: `${receiver.url}/hooks` });
  if (registered.status !== 201) throw new Error(`POST /api/webhooks answers ${registered.status}`);

  const idleFrom = cpu();
  await sleep(IDLE_MS);
  const idlePerMs = (cpu() - idleFrom) / IDLE_MS;

  receiver.received.length = 0;
  const begun = performance.now();
  const from = cpu();
  for (let sold = 0; sold < SALES; sold += AT_ONCE) {
    const made = await Promise.all(
      Array.from({ length: AT_ONCE }, () => shop.post('/api/invoices', { asset: 'ETH', amount: 25 })),
    );
    const invoices = made.map(({ body }) => body.data);
    for (let half = 0; half < 2; half++) {
      await Promise.all(invoices.map(({ address }) => quittance.ethereum.pay('ETH', address.address, HALF)));
      await quittance.ethereum.mine(1);
    }
    await quittance.ethereum.mine(1);
  }
  const deadline = performance.now() + WITHIN_MS;
  const left = async () => {
    const { count } = await quittance.db.one<{ count: string }>(
      `select (select count(*) from invoices.invoices where account_id = $1 and status <> 'paid')
         + (select count(*) from webhooks.deliveries d join webhooks.endpoints e on e.key = d.endpoint_key
            where e.account_id = $1 and d.state <> 'delivered') as count`,
      [shop.id],
    );
    return BigInt(count);
  };
  while ((await left()) > 0n) {
    if (performance.now() > deadline) throw new Error(`${await left()} invoices and deliveries are not done`);
    await sleep(LOOK_EVERY_MS);
  }
  const tookMs = performance.now() - begun;
  const used = cpu() - from - idlePerMs * tookMs;
  return {
    figure: (used / SALES) * MICROSECONDS,
    operations: SALES,
    more: {
      webhooks: receiver.received.length / SALES,
      'idle % of a core': idlePerMs * 1_000 * 100,
    },
  };
}
