import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Service } from '@quittance/shared/events';
import { patient } from '@quittance/testkit/patience';
import { expectHarmless, recovered } from './expect-harmless.ts';
import {
  nameOf,
  type OnlyOnTheBus,
  type Route,
  sentAgain,
  untilInFlight,
  untilSigned,
} from './lost-events.ts';
import { sized } from './size.ts';
import type { UnderLoad } from './under-load.ts';
import { untilArrived } from './until-arrived.ts';

const TIMES = sized(1, 5);
const ARRIVE_WITHIN_MS = 60_000;
type Killed = Exclude<Service, 'auditor'>;

type LostData = {
  /** What only NATS has when its data is deleted. */
  routes: readonly Route[];
  /** Stops the receivers until it is so. They start again with NATS. */
  leave(): Promise<OnlyOnTheBus[]>;
  away: readonly Killed[];
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

/**
 * The whole data folder of NATS is deleted under load, with money's own events in it that no service has processed: their
 * senders find out, and all effects are there within a minute.
 */
export function allDataLost(on: UnderLoad<unknown>): void {
  const kill = (service: Killed) => on.quittance.stack.services[service].kill();
  const cases: LostData[] = [
    {
      routes: credited,
      async leave() {
        // A deposit that the ledger will book when invoices can no longer hear of it.
        kill('ledger');
        await untilInFlight(on.quittance, settled.slice(0, 1));
        kill('invoices');
        await on.quittance.stack.services.ledger.restart();
        return await untilInFlight(on.quittance, credited);
      },
      away: ['invoices'],
      notConnected: 'payouts',
      senders: ['ledger'],
    },
    {
      routes: [...ended, ...settled],
      async leave() {
        await untilSigned(on.quittance);
        kill('ledger');
        const holds = await untilInFlight(on.quittance, ended);
        kill('payouts');
        return [...holds, ...(await untilInFlight(on.quittance, settled))];
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
  }: LostData): Promise<{ lost: OnlyOnTheBus[]; ms: number }> {
    const { quittance, load, logs } = on;
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
    const pids = Object.values(services).map(({ pid }) => pid);
    const began = performance.now();
    await untilArrived(quittance, new Date(), 2 * ARRIVE_WITHIN_MS);
    await load.nextAccepted(ARRIVE_WITHIN_MS);
    const ms = performance.now() - began;
    await logs.said(notConnected, /the bus is gone/);
    for (const sender of senders) await logs.said(sender, /events had not arrived, sending them again/);
    expect(Object.values(services).map(({ pid }) => pid)).toEqual(pids);
    return { lost, ms };
  }

  test.each(cases.map((one) => ({ one, lost: one.routes.map(nameOf).join(', ') })))(
    `the bus loses all its data ${TIMES} times, $lost in it: every effect is there within a minute`,
    ({ one, lost: names }) =>
      expectHarmless('nats', `all data of NATS deleted, with ${names} in it`, async (found) => {
        for (let i = 0; i < TIMES; i++) {
          const { lost, ms } = await lose(one);
          recovered(found, ms);
          if (ms > patient(ARRIVE_WITHIN_MS)) found.violations.push(`all had arrived after ${ms} ms`);
          found.violations.push(...on.logs.unusable());
          for (const some of lost) {
            const again = await sentAgain(on.quittance, some);
            expect([nameOf(some.route), again]).toEqual([nameOf(some.route), some.sends.size]);
            found.fired += again;
          }
        }
      }),
    patient(TIMES * 4 * ARRIVE_WITHIN_MS + 60_000),
  );
}
