import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { must } from '@quittance/stack/shell';
import { eventually } from '@quittance/testkit/eventually';
import type { Answered } from './balancer.ts';
import { type ComposeShop, composeShop, type Merchant, scaled, twice } from './compose-shop.ts';

const MINUTES = 60_000;
const FIRST_PORT = 28_410;
const READERS = 4;
const PAYERS = 2;
const READ_EVERY_MS = 20;
const PAY_EVERY_MS = 250;
/** What docker-compose.yml gives a service to drain. */
const GRACE_SECONDS = 12;
const payout = {
  asset: 'ETH',
  amount: '0.00001',
  address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
} as const;

let project: ComposeShop;
let shop: Merchant;
let invoiceId: string;

beforeAll(async () => {
  project = await composeShop(FIRST_PORT);
  await project.up({ replicas: twice });
  shop = await project.open();
  invoiceId = await shop.sale(5_000);
}, 8 * MINUTES);

afterAll(async () => {
  shop?.close();
  await project?.remove();
}, 3 * MINUTES);

const one = async (id: string) => (await project.containers()).find((container) => container.id === id);

/** How often each thing happened; what is neither right nor to be expected says more than its status. */
type Counts = Map<number | string, number>;
const outcomeOf = ({ status, body }: Answered): number | string =>
  [200, 201, 503].includes(status) ? status : `${status} ${JSON.stringify(body)}`;

test(
  'a rolling restart of every service under load: no read fails, payouts are 201 or 503, every invariant holds',
  async () => {
    const reads: Counts = new Map();
    const payouts: Counts = new Map();
    const over = new AbortController();
    let slowestStopMs = 0;
    const load = async (counts: Counts, everyMs: number, ask: () => Promise<Answered>) => {
      while (!over.signal.aborted) {
        const what = await ask().then(outcomeOf, String);
        counts.set(what, (counts.get(what) ?? 0) + 1);
        await sleep(everyMs);
      }
    };
    const loads = [
      ...Array.from({ length: READERS }, () =>
        load(reads, READ_EVERY_MS, () => shop.get(`/api/invoices/${invoiceId}`)),
      ),
      load(reads, READ_EVERY_MS, () => shop.get('/api/balances')),
      ...Array.from({ length: PAYERS }, () =>
        load(payouts, PAY_EVERY_MS, () => shop.post('/api/payouts', payout)),
      ),
    ];
    try {
      for (const service of scaled) {
        for (const { id } of await project.running(service)) {
          const began = performance.now();
          await must('docker', ['stop', '--time', String(GRACE_SECONDS), id]);
          slowestStopMs = Math.max(slowestStopMs, performance.now() - began);
          expect(await one(id)).toMatchObject({ service, state: 'exited', exitCode: 0 });
          await must('docker', ['start', id]);
          await eventually(
            async () => expect(await one(id)).toMatchObject({ service, health: 'healthy' }),
            MINUTES,
          );
        }
      }
    } finally {
      over.abort();
      await Promise.all(loads);
    }
    process.stdout.write(`the slowest stopped in ${Math.round(slowestStopMs)} ms\n`);
    process.stdout.write(`reads ${JSON.stringify([...reads])}, payouts ${JSON.stringify([...payouts])}\n`);
    const wrong = [
      ...[...reads.keys()].filter((outcome) => outcome !== 200),
      ...[...payouts.keys()].filter((outcome) => outcome !== 201 && outcome !== 503),
    ];
    if (wrong.length > 0) process.stdout.write(`${await project.complaints()}\n`);
    expect(wrong).toEqual([]);
    expect(payouts.get(201)).toBeGreaterThan(0);
    await project.expectBooksRight();
  },
  15 * MINUTES,
);
