import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Service } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { type CrashFixture, startCrashFixture } from './crash-fixture.ts';
import { fund, sale } from './crash-scenarios.ts';
import { expectAllWell, recoversWithinMs } from './failpoint-matrix.ts';
import { reportFault } from './table.ts';

const ROUND_MS = patient(120_000);
/** Long enough for payments, blocks and requests to pile up. */
const AWAY_MS = 2_000;
let fixture: CrashFixture;

beforeAll(async () => {
  fixture = await startCrashFixture({ chains: [] });
  await fund(fixture, 'ETH', 20_000);
}, ROUND_MS);
afterEach(async () => {
  const { services } = fixture.quittance.stack;
  for (const process of Object.values(services)) if (process.pid === undefined) await process.restart();
});
afterAll(async () => {
  await fixture?.stop();
}, ROUND_MS);

const order = { asset: 'ETH', amount: '0.01', address: `0x${'c4'.repeat(20)}` };
const askFor = {
  invoices: async () => (await fixture.shop.get('/api/invoices')).status,
  payouts: async () => (await fixture.shop.get('/api/payouts')).status,
  ledger: async () => (await fixture.shop.get('/api/balances')).status,
  webhooks: async () => (await fixture.shop.get('/api/webhooks')).status,
};
const upstreams = Object.keys(askFor) as (keyof typeof askFor)[];

test.each(['gateway', 'invoices', 'payouts', 'ledger', 'webhooks'] satisfies Service[])(
  '%s dies and stays away while money moves: the others go on, and all of it ends once',
  async (absent) => {
    const report = {
      group: 'crashes: away',
      fault: `${absent} killed and away for ${AWAY_MS / 1_000} s`,
      fired: 0,
      violations: 1,
      slowestRecoveryMs: undefined as number | undefined,
    };
    try {
      const before = await sale('ETH')(fixture, Promise.resolve());
      fixture.processOf(absent).kill();
      report.fired += 1;
      await eventually(() => expect(fixture.processOf(absent).pid).toBeUndefined());
      if (absent !== 'gateway') {
        for (const upstream of upstreams) {
          expect([upstream, await askFor[upstream]()]).toEqual([upstream, upstream === absent ? 503 : 200]);
        }
      }
      if (absent === 'ledger') {
        const refused = await fixture.shop.post('/api/payouts', order);
        expect(refused).toMatchObject({ status: 503, body: { message: 'Service Unavailable' } });
        expect(refused.headers['retry-after']).toBeDefined();
      }
      const during = sale('ETH')(fixture, Promise.resolve());
      await sleep(AWAY_MS);
      const startedAt = performance.now();
      await fixture.start([absent]);
      const servesAt = performance.now();
      const ended = [before, await during];
      await expectAllWell(fixture, ended);
      const endedAt = performance.now();
      report.slowestRecoveryMs = endedAt - startedAt;
      expect(endedAt - servesAt).toBeLessThan(recoversWithinMs([absent]));
      // What was answered with 503 never pays.
      expect(await fixture.customerOf('ETH').balance('ETH', order.address)).toBe(0n);
      report.violations = 0;
    } finally {
      reportFault(report);
    }
  },
  ROUND_MS,
);
