import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from '@jest/globals';
import { patient } from '@quittance/testkit/patience';
import { seeded } from '@quittance/testkit/seeded';
import { type CrashFixture, startCrashFixture } from './crash-fixture.ts';
import { fund, sale } from './crash-scenarios.ts';
import { expectAllWell, recoversWithinMs, runningOf } from './failpoint-matrix.ts';
import { FAULTS_SEED, sized } from './size.ts';
import { reportFault } from './table.ts';

const ROUNDS = sized(2, 200);
const ROUND_MS = patient(120_000);
/** A scenario takes about three seconds from its first request to its last webhook. */
const DIES_WITHIN_MS = 3_000;
const assets = ['ETH', 'BTC', 'SOL'] as const;

let fixture: CrashFixture;

beforeAll(async () => {
  fixture = await startCrashFixture({ chains: ['bitcoin', 'solana'], solanaSlotMs: 80 });
  await Promise.all([
    fund(fixture, 'ETH', 20_000),
    fund(fixture, 'BTC', 100_000),
    fund(fixture, 'SOL', 3_000),
  ]);
}, ROUND_MS);
afterAll(async () => {
  await fixture?.stop();
}, ROUND_MS);

test(
  'all services are killed at once, at any time, with payments and payouts in flight on every chain',
  async () => {
    const random = seeded(FAULTS_SEED);
    const report = {
      group: 'crashes at random',
      fault: 'all services killed at once',
      fired: 0,
      violations: 0,
      slowestRecoveryMs: 0,
    };
    try {
      for (let round = 1; round <= ROUNDS; round++) {
        const begun = Promise.all(assets.map((asset) => sale(asset)(fixture, Promise.resolve())));
        // Awaited when everybody is back; a client that is refused meanwhile fails the round then.
        const outcome = begun.then(
          (ended) => ({ ended }),
          (error: unknown) => ({ error }),
        );
        await sleep(random() * DIES_WITHIN_MS);
        const services = runningOf(fixture);
        for (const service of services) fixture.kill(service);
        report.fired += 1;
        const startedAt = performance.now();
        await fixture.start(services);
        const servesAt = performance.now();
        const told = await outcome;
        if ('error' in told) throw told.error;
        await expectAllWell(fixture, told.ended);
        const endedAt = performance.now();
        report.slowestRecoveryMs = Math.max(report.slowestRecoveryMs, endedAt - startedAt);
        const ms = endedAt - servesAt;
        if (ms > recoversWithinMs(services)) throw new Error(`in round ${round} all was well after ${ms} ms`);
      }
    } catch (error) {
      report.violations += 1;
      throw error;
    } finally {
      reportFault(report);
    }
  },
  ROUNDS * ROUND_MS,
);
