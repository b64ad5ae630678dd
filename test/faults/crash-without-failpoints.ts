import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import type { Service } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { seeded } from '@quittance/testkit/seeded';
import type { CrashFixture } from './crash-fixture.ts';
import { type CrashAsset, type Ended, sale } from './crash-scenarios.ts';
import { expectHarmless, type Findings, recovered } from './expect-harmless.ts';
import { expectAllWell, recoversWithinMs, runningOf } from './failpoint-matrix.ts';
import { FAULTS_SEED, faultsOfTheDay, sized } from './size.ts';

/* What is killed wherever it is, on the stack of a crash matrix. */

const ROUND_MS = patient(120_000);
const ROUNDS = sized(1, 100);
/** A scenario takes about three seconds from its first request to its last webhook. */
const DIES_WITHIN_MS = 3_000;
/** Long enough for payments, blocks and requests to pile up. */
const AWAY_MS = 2_000;

/** Starts those who died; all that was begun ends once, soon after they serve. */
async function startAgain(
  fixture: CrashFixture,
  died: readonly Service[],
  begun: () => Promise<readonly Ended[]>,
  found: Findings,
): Promise<void> {
  const startedAt = performance.now();
  await fixture.start(died);
  const servesAt = performance.now();
  await expectAllWell(fixture, await begun());
  const endedAt = performance.now();
  recovered(found, endedAt - startedAt);
  expect(endedAt - servesAt).toBeLessThan(recoversWithinMs(died));
}

/** All services at once, at random moments, with payments and payouts of these assets in flight. */
export const allKilledAtOnce = (on: () => CrashFixture, ...assets: readonly CrashAsset[]): void =>
  test(
    `all services are killed at once, at any time, with ${assets.join(' and ')} in flight`,
    () =>
      expectHarmless('crashes at random', 'all services killed at once', async (found) => {
        const fixture = on();
        const random = seeded(FAULTS_SEED);
        for (let round = 0; round < ROUNDS; round++) {
          const begun = Promise.all(assets.map((asset) => sale(asset)(fixture, Promise.resolve())));
          // It is awaited when all are back; until then nobody hears of its failure, and Node would end the process.
          begun.catch(() => undefined);
          await sleep(random() * DIES_WITHIN_MS);
          const services = runningOf(fixture);
          for (const service of services) fixture.kill(service);
          found.fired += 1;
          await startAgain(fixture, services, () => begun, found);
        }
      }),
    ROUNDS * ROUND_MS,
  );

const order = { asset: 'ETH', amount: '0.01', address: `0x${'c4'.repeat(20)}` };
const upstreams = {
  invoices: '/api/invoices',
  payouts: '/api/payouts',
  ledger: '/api/balances',
  webhooks: '/api/webhooks',
};
const mayBeAway: Service[] = ['gateway', 'invoices', 'payouts', 'ledger', 'webhooks'];

/** One service after the other stays away, on a stack with Ethereum. */
export const absentServices = (on: () => CrashFixture): void => {
  afterEach(async () => {
    const { services } = on().quittance.stack;
    for (const process of Object.values(services)) if (process.pid === undefined) await process.restart();
  });

  test.each(faultsOfTheDay(mayBeAway))(
    '%s dies and stays away while money moves: the others go on, and all of it ends once',
    (absent) =>
      expectHarmless('crashes: away', `${absent} killed and away for ${AWAY_MS / 1_000} s`, async (found) => {
        const fixture = on();
        const { shop } = fixture;
        const before = await sale('ETH')(fixture, Promise.resolve());
        fixture.kill(absent);
        found.fired += 1;
        await eventually(() => expect(fixture.processOf(absent).pid).toBeUndefined());
        if (absent !== 'gateway') {
          for (const [upstream, path] of Object.entries(upstreams)) {
            const { status } = await shop.get(path);
            expect([upstream, status]).toEqual([upstream, upstream === absent ? 503 : 200]);
          }
        }
        if (absent === 'ledger') {
          const refused = await shop.post('/api/payouts', order);
          expect(refused).toMatchObject({ status: 503, body: { message: 'Service Unavailable' } });
          expect(refused.headers['retry-after']).toBeDefined();
        }
        const during = sale('ETH')(fixture, Promise.resolve());
        await sleep(AWAY_MS);
        await startAgain(fixture, [absent], async () => [before, await during], found);
        // What was answered with 503 never pays.
        expect(await fixture.customerOf('ETH').balance('ETH', order.address)).toBe(0n);
      }),
    ROUND_MS,
  );
};
