import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Service } from '@quittance/shared/events';
import { patient } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { pidsOf } from './between.ts';
import { expectHarmless, expectTrueWords, recovered } from './expect-harmless.ts';
import { type Load, startLoad } from './load.ts';
import { type LogLines, logLines } from './log-lines.ts';
import { nameOf, type OnlyOnTheBus, type Route, sentAgain, untilInFlight } from './lost-events.ts';
import { sized } from './size.ts';
import { untilArrived } from './until-arrived.ts';

/**
 * The whole data folder of NATS is deleted under load, with money's own events in it that no service has processed: their
 * senders find out, and all effects are there within a minute.
 */
const TIMES = sized(1, 5);
const ARRIVE_WITHIN_MS = 60_000;

jest.setTimeout(patient(TIMES * 4 * ARRIVE_WITHIN_MS + 180_000));

let quittance: Quittance;
let load: Load;
let logs: LogLines;

beforeAll(async () => {
  quittance = await startQuittance({ chains: [], fixedFees: true });
  load = await startLoad(quittance, { clients: 1 });
  logs = logLines(quittance);
});
afterAll(async () => {
  await load?.abandon();
  await quittance?.stop();
});

type FailpointSuite = {
  /** What only NATS has when its data is deleted. */
  routes: readonly Route[];
  /** Stops the receivers until it is so. They start again with NATS. */
  leave(): Promise<OnlyOnTheBus[]>;
  away: readonly Exclude<Service, 'auditor'>[];
  /** Who runs and loses NATS, and who finds out later that events did not arrive. */
  notConnected: Service;
  senders: readonly Service[];
};

const settled: Route[] = [
  { kind: 'deposit.settled', to: 'ledger' },
  { kind: 'deposit.settled', to: 'payouts' },
];
const ended: Route[] = [{ kind: 'hold.settle', to: 'ledger' }];
const credited: Route[] = [{ kind: 'credit.recorded', to: 'invoices' }];
const kill = (service: Exclude<Service, 'auditor'>) => quittance.stack.services[service].kill();

const failpointSuites: FailpointSuite[] = [
  {
    routes: credited,
    async leave() {
      // A deposit that the ledger will book when invoices can no longer hear of it.
      kill('ledger');
      await untilInFlight(quittance, settled.slice(0, 1));
      kill('invoices');
      await quittance.stack.services.ledger.restart();
      return await untilInFlight(quittance, credited);
    },
    away: ['invoices'],
    notConnected: 'payouts',
    senders: ['ledger'],
  },
  {
    routes: [...ended, ...settled],
    async leave() {
      kill('ledger');
      const holds = await untilInFlight(quittance, ended);
      kill('payouts');
      return [...holds, ...(await untilInFlight(quittance, settled))];
    },
    away: ['ledger', 'payouts'],
    notConnected: 'invoices',
    senders: ['invoices', 'payouts'],
  },
];

/** Deletes it all, and waits until all that had been published by then has arrived. */
async function lose({
  leave,
  away,
  notConnected,
  senders,
}: FailpointSuite): Promise<{ lost: OnlyOnTheBus[]; ms: number }> {
  const { engines, services } = quittance.stack;
  const folder = join(dirname(quittance.stack.pricesFile), 'nats', 'jetstream');
  await load.nextAccepted(ARRIVE_WITHIN_MS);
  logs.mark();
  const lost = await leave();
  engines.nats.kill();
  await engines.nats.stop();
  expect(existsSync(folder)).toBe(true);
  rmSync(folder, { recursive: true, force: true });
  await Promise.all([engines.nats.restart(), ...away.map((service) => services[service].restart())]);
  const pids = pidsOf(quittance);
  const began = performance.now();
  await untilArrived(quittance, new Date(), 2 * ARRIVE_WITHIN_MS);
  await load.nextAccepted(ARRIVE_WITHIN_MS);
  const ms = performance.now() - began;
  await logs.said(notConnected, /the bus is gone/);
  for (const sender of senders) await logs.said(sender, /events had not arrived, sending them again/);
  expect(pidsOf(quittance)).toEqual(pids);
  return { lost, ms };
}

const named = ({ routes }: FailpointSuite) => routes.map(nameOf).join(', ');

test.each(failpointSuites.map((suite) => ({ suite, lost: named(suite) })))(
  `the bus loses all its data ${TIMES} times, $lost in it: every effect is there within a minute`,
  async ({ suite }) => {
    await expectHarmless('nats', `all data of NATS deleted, with ${named(suite)} in it`, async (found) => {
      for (let i = 0; i < TIMES; i++) {
        const { lost, ms } = await lose(suite);
        recovered(found, ms);
        if (ms > patient(ARRIVE_WITHIN_MS)) found.violations.push(`all had arrived after ${ms} ms`);
        found.violations.push(...logs.unusable());
        for (const some of lost) {
          const again = await sentAgain(quittance, some);
          expect([nameOf(some.route), again]).toEqual([nameOf(some.route), some.sends.size]);
          found.fired += again;
        }
      }
    });
  },
);

test('in the end every word that was given is true', () => expectTrueWords('nats', load));
