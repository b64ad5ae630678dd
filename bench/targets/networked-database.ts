import type { Service } from '@quittance/shared/events';
import { putBetween } from '@quittance/testkit/between';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Benchmark } from '../benchmark.ts';
import { drive } from '../drive.ts';
import { processesOf } from '../lab.ts';
import { startStub } from '../stub.ts';
import { payoutsOf } from './payouts.ts';

const CLIENTS = 32;
const SECONDS = 3;
const WARM_UP_SECONDS = 8;
const DELAY_MS = 2;
const SHORT_DELAY_MS = 1;
/** Long against all that a request takes otherwise. */
const LONG_DELAY_MS = 50;
type Request = (turn: number) => Promise<void>;

export const networkedInvoices = networked(
  'networked-invoices',
  'POST /api/invoices, 32 clients,',
  async (quittance) =>
    answering(201, await quittance.merchant(), (shop) =>
      shop.post('/api/invoices', { asset: 'ETH', amount: 25 }),
    ),
);
export const networkedReads = networked(
  'networked-reads',
  'GET /api/invoices/{id}, 32 clients,',
  async (quittance) => {
    const shop = await quittance.merchant();
    const { id } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 25 })).body.data;
    return answering(200, shop, () => shop.get(`/api/invoices/${id}`));
  },
);
export const networkedPayouts = networked('networked-payouts', 'POST /api/payouts, 32 clients,', payoutsOf);

function networked(
  name: string,
  path: string,
  requestOf: (quittance: Quittance) => Promise<Request>,
): Benchmark {
  return {
    name,
    what: `${path} with ${DELAY_MS} ms between the services and Postgres. \`at ${SHORT_DELAY_MS} ms\`: the rate with that delay. \`waits\`: how many answers of Postgres a request waits for, one after the other.`,
    yardstick: 'the same without a delay, through the same proxy',
    target: { atLeast: 0.5 },
    unit: 'requests/s',
    rounds: 3,
    warmUp: false,
    async setUp(lab) {
      const quittance = await lab.quittance();
      const delay = await startDelay(quittance);
      const request = await requestOf(quittance);
      await drive(request, CLIENTS, WARM_UP_SECONDS);
      const rateAt = async (ms: number, clients = CLIENTS) => {
        await delay.set(ms);
        return await drive(request, clients, SECONDS);
      };
      const { figure: short } = await rateAt(SHORT_DELAY_MS);
      const [slow, fast] = [await rateAt(LONG_DELAY_MS, 1), await rateAt(0, 1)];
      const waits = ((slow.p50Ms ?? 0) - (fast.p50Ms ?? 0)) / LONG_DELAY_MS;
      return {
        ours: async () => ({
          ...(await rateAt(DELAY_MS)),
          more: { [`at ${SHORT_DELAY_MS} ms`]: short, waits },
        }),
        theirs: () => rateAt(0),
        close: delay.close,
        processes: processesOf(quittance),
      };
    },
  };
}

function answering(
  status: number,
  shop: Merchant,
  ask: (shop: Merchant) => ReturnType<Merchant['get']>,
): Request {
  return async () => {
    const answer = await ask(shop);
    if (answer.status !== status)
      throw new Error(`it answers ${answer.status} ${JSON.stringify(answer.body)}`);
  };
}

/** Starts the services again, so that they reach their database through a process that delays its answers. */
async function startDelay(
  quittance: Quittance,
): Promise<{ set(ms: number): Promise<void>; close(): Promise<void> }> {
  const { stack } = quittance;
  const direct = new URL(stack.engines.postgres.url).port;
  const control = await startStub('delay.ts', [direct]);
  const delayed = await (await fetch(control.url)).text();
  const reachBy = (port: string) => {
    const through = (url: string) => Object.assign(new URL(url), { port }).href;
    const all = Object.keys(stack.services) as Service[];
    return putBetween(
      quittance,
      all.map((service) => ({ service, setting: 'DATABASE_URL', through })),
    );
  };
  await reachBy(delayed);
  return {
    set: async (ms) => void (await fetch(`${control.url}/${ms}`, { method: 'POST' })),
    async close() {
      await reachBy(direct);
      await control.engine.stop();
    },
  };
}
