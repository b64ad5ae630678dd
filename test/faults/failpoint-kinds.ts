import type { Service } from '@quittance/shared/events';
import type { CrashFixture } from './crash-fixture.ts';
import { untilTooOld } from './crash-payout-scenarios.ts';
import { type CrashAsset, type Ended, type Scenario, sale } from './crash-scenarios.ts';
import type { Kind } from './failpoint-suite.ts';
import { isFull } from './size.ts';

/* What the rows of a crash matrix are made of. */

export const at = (service: Service, ...points: readonly string[]): Kind => ({ service, points });

export const during = (scenario: Scenario, service: Service, ...points: readonly string[]): Kind => ({
  service,
  points,
  scenario,
});

export const alone = (scenario: Scenario, service: Service, ...points: readonly string[]): Kind => ({
  ...during(scenario, service, ...points),
  alone: true,
});

/** A service dies at an earlier point first, and stays dead for what comes after it. */
export const after =
  (
    earlier: readonly [Service, point: string],
    scenario: Scenario,
    afterDeath: (fixture: CrashFixture) => Promise<Ended | undefined>,
  ) =>
  (service: Service, ...points: readonly string[]): Kind => ({
    service,
    points,
    alone: true,
    async prepare(fixture) {
      await fixture.arm(...earlier);
      const begun = scenario(fixture, Promise.resolve());
      await fixture.died(...earlier);
      const ended = await afterDeath(fixture);
      return [begun.then((usual) => ended ?? usual)];
    },
  });

/** The events of these services that were sent are a minute old: their senders ask whether they have arrived. */
export const asking = (service: Service, ...points: readonly string[]): Kind => ({
  service,
  points,
  async prepare({ quittance }) {
    for (const sender of ['invoices', 'payouts', 'ledger']) {
      await quittance.db.rows(
        `update ${sender}.outbox set sent_at = now() - interval '1 minute', confirmed_at = null, confirmed_by = '{}'`,
      );
    }
    return [];
  },
});

/** As if the broker had lost what it had confirmed. */
export const lostByBroker = (service: Service, asset: CrashAsset) =>
  after([service, 'relay.claimed'], sale(asset), async ({ quittance }) => {
    await quittance.db.rows(
      `update ${service}.outbox set sent_at = now() - interval '1 minute', claimed_until = null where sent_at is null`,
    );
    return undefined;
  })(service, 'reconciler.sent_again');

/** As if the time had passed after which payouts gives a request up, or webhooks a claim. At full size it does pass. */
export const older = async ({ quittance }: CrashFixture): Promise<undefined> => {
  if (isFull) return undefined;
  await quittance.db.rows(
    `update payouts.payouts set created_at = created_at - interval '11 seconds' where status = 'requested'`,
  );
  await quittance.db.rows(`update webhooks.deliveries set claimed_until = now() where state = 'sending'`);
  return undefined;
};
export const whileTooOld = async (fixture: CrashFixture): Promise<undefined> => {
  await untilTooOld(fixture);
  return undefined;
};

/** A chain that was never followed before. */
export const neverFollowed = (scenario: Scenario, service: Service, ...points: readonly string[]): Kind => ({
  ...alone(scenario, service, ...points),
  async prepare(fixture) {
    await fixture.processOf(service).stop();
    await fixture.quittance.db.rows('delete from invoices.blocks');
    await fixture.quittance.db.rows('delete from invoices.cursors');
    return [];
  },
});
