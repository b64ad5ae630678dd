import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Service } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import type { CrashFixture } from './crash-fixture.ts';
import { sale } from './crash-scenarios.ts';
import { expectAllWell, recoversWithinMs } from './failpoint-matrix.ts';
import { reportFault } from './table.ts';

const ROUND_MS = patient(120_000);
/** Long enough for payments, blocks and requests to pile up. */
const AWAY_MS = 2_000;

const order = { asset: 'ETH', amount: '0.01', address: `0x${'c4'.repeat(20)}` };
const upstreams = {
  invoices: '/api/invoices',
  payouts: '/api/payouts',
  ledger: '/api/balances',
  webhooks: '/api/webhooks',
};

/** On a stack with Ethereum that other suites use as well. */
export const absentServices = (on: () => CrashFixture): void => {
  let fixture: CrashFixture;
  beforeAll(() => {
    fixture = on();
  });
  afterEach(async () => {
    const { services } = fixture.quittance.stack;
    for (const process of Object.values(services)) if (process.pid === undefined) await process.restart();
  });

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
        fixture.kill(absent);
        report.fired += 1;
        await eventually(() => expect(fixture.processOf(absent).pid).toBeUndefined());
        if (absent !== 'gateway') {
          for (const [upstream, path] of Object.entries(upstreams)) {
            const { status } = await fixture.shop.get(path);
            expect([upstream, status]).toEqual([upstream, upstream === absent ? 503 : 200]);
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
};
