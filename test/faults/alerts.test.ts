import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { allReady } from '@quittance/testkit/between';
import { eventually } from '@quittance/testkit/eventually';
import { notTried } from '@quittance/testkit/not-tried';
import { patient } from '@quittance/testkit/patience';
import { alertRules, prometheusPrograms } from '../alerts/prometheus.ts';
import { acts } from './alert-acts.ts';
import type { Fired } from './alert-fault.ts';
import { type AlertFixture, openAlertFixture } from './alert-fixture.ts';
import type { FiringAlert } from './alert-watch.ts';

/**
 * Every alert of operators is fired by a fault: services with real engines, a Prometheus that scrapes them and evaluates the rules, which wait
 * less. How long a state lasts before an alert fires, and at what it stays silent, is shown by test/alerts.
 */
const FIRES_WITHIN_MS = 40_000;
const ENDS_WITHIN_MS = 60_000;
jest.setTimeout(patient(2 * ENDS_WITHIN_MS));

const programs = await prometheusPrograms();
const rules = alertRules().groups.flatMap((group) => group.rules);
const nameOf = ({ alert, labels = {} }: Fired) => [alert, ...Object.values(labels)].join(' ');
const titled = acts.flatMap((act) =>
  act.faults.flatMap(({ fault, fires }) =>
    fires.map((fired) => ({ ...fired, act, fault, name: nameOf(fired) })),
  ),
);
/** What has fired, by its name: as Prometheus would hand it to who is on duty. */
const seen = new Map<string, FiringAlert>();

const isOf =
  ({ alert, labels = {} }: Fired) =>
  (one: FiringAlert): boolean =>
    one.labels['alertname'] === alert &&
    Object.entries(labels).every(([name, value]) => one.labels[name] === value);

const named = (alerts: readonly FiringAlert[]): string[] =>
  alerts.map(({ labels: { alertname, severity: _severity, ...labels } }) =>
    [alertname, ...Object.values(labels)].join(' '),
  );

if ('missing' in programs) notTried('every alert is fired by a fault', programs.missing);
else {
  const { folder } = programs;
  const on = {} as { fixture: AlertFixture };
  beforeAll(
    async () => {
      on.fixture = await openAlertFixture(folder);
    },
    patient(2 * ENDS_WITHIN_MS),
  );
  afterAll(() => on.fixture?.close(), patient(ENDS_WITHIN_MS));

  test('nothing fires while all is in order', async () => {
    const { watch } = on.fixture;
    await eventually(async () => {
      expect(await watch.count('up == 1')).toBe(6);
      // It has been measured twice by then.
      expect(await watch.count('quittance_operator_funds{asset="ETH"}')).toBe(1);
      expect(named(await watch.firing())).toEqual([]);
    }, ENDS_WITHIN_MS);
  });

  describe.each(acts)('while $while', (act) => {
    let begun: Promise<unknown>[] = [];
    let begunAt = 0;
    beforeAll(() => {
      begunAt = Date.now();
      begun = act.faults.map(async ({ begin }) => begin(on.fixture));
      // Each is awaited by the test of its alert.
      for (const one of begun) one.catch(() => undefined);
    });

    test.each(titled.filter((one) => one.act === act))('$name fires: $fault', async (fired) => {
      await begun[act.faults.findIndex(({ fault }) => fault === fired.fault)];
      const alert = await eventually(async () => {
        const since = await on.fixture.watch.firedSince(begunAt);
        const found = since.find(isOf(fired));
        if (found === undefined)
          throw new Error(`only these have fired: ${[...new Set(named(since))].join(', ')}`);
        return found;
      }, FIRES_WITHIN_MS);
      seen.set(fired.alert, alert);
      expect(alert.annotations['summary']).not.toMatch(/no value|NaN|%!|<error/);
    });

    test('and is put right', async () => {
      // What could not begin has failed the test of its alert.
      await Promise.allSettled(begun);
      for (const { end } of act.faults) await end(on.fixture);
      await expect(allReady(on.fixture.quittance, ENDS_WITHIN_MS)).resolves.toBeUndefined();
    });
  });

  test('all alerts have ended when all is in order again', async () => {
    await eventually(async () => expect(named(await on.fixture.watch.firing())).toEqual([]), ENDS_WITHIN_MS);
  });

  test('each leads to its section of the runbook that the gateway serves', async () => {
    const page = await (await fetch(`${on.fixture.quittance.url}/docs/runbook`)).text();
    for (const [name, { annotations }] of seen) {
      const [address, section] = String(annotations['runbook_url']).split('#');
      expect([name, address]).toEqual([name, `${on.fixture.quittance.url}/docs/runbook`]);
      expect(page).toContain(`id="${section}"`);
    }
    expect(seen.size).toBe(rules.length);
  });
}

test('each alert of the rules has a fault here', () => {
  const fired = new Set(titled.map(({ alert }) => alert));
  expect(rules.map(({ alert }) => alert).filter((alert) => !fired.has(alert))).toEqual([]);
  expect(rules.length).toBeGreaterThan(30);
});
