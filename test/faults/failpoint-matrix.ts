import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Service, services } from '@quittance/shared/events';
import { reason } from '@quittance/shared/logger';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { type CrashFixture, startCrashFixture } from './crash-fixture.ts';
import { crashViolations } from './crash-oracles.ts';
import { type Ended, fund, type Scenario } from './crash-scenarios.ts';
import { rowsOfTheDay } from './failpoint-rows.ts';
import { type FailpointSuite, nameOf as nameOfPoint, pointsOf, type Row } from './failpoint-suite.ts';
import { sized } from './size.ts';
import { type FaultReport, reportFault } from './table.ts';

/**
 * From when those who died serve again until all is well. What is reported begins earlier, when they are started; but how
 * long a busy machine takes to start a process is nobody's violation. Claimed are ten seconds, on a machine that does nothing
 * else: every day other suites run beside, on processors of half the speed. What is usual there is in the baseline.
 */
const RECOVERS_WITHIN_MS = patient(sized(50_000, 10_000));
/**
 * Ten seconds are not enough where webhooks died: what it had claimed is left to it for twelve, as its replicas compare
 * their own clocks, which may be five apart; then somebody looks for it, every two, and sends it. No money waits for that.
 */
const TOLD_WITHIN_MS = patient(sized(50_000, 16_000));
/**
 * Payouts waits 15 s for the answer of a signer that has died meanwhile. At full size what it then gets signed on Solana is
 * too old for the chain, which has to be proven before the payment is signed again: not before it was doubted for 30 s.
 */
const SIGNED_WITHIN_MS = patient(sized(50_000, 60_000));

export function recoversWithinMs(died: readonly Service[]): number {
  if (died.includes('signer')) return SIGNED_WITHIN_MS;
  return died.includes('webhooks') ? TOLD_WITHIN_MS : RECOVERS_WITHIN_MS;
}

/** Waited for all the same, to know how long it takes. */
const WAITS_FOR_MS = 60_000;
const STEP_MS = patient(180_000);
const DEATH_MS = patient(90_000);
const ASK_EVERY_MS = 100;
/** Between one customer and the next. */
const PAUSE_MS = 200;
/** With so many payouts on their way no customer comes: on a slow machine they would queue, and a recovery take as long as they. */
const PAYOUTS_MAX = 5;
/** How often a service dies before everybody is waited for; at full size everybody dies alone, and is waited for. */
const DEATHS_MAX = sized(7, 1);

/**
 * Kills a service of a whole stack at every point of a suite while payments and payouts run across it, and starts it
 * again: all of it has to end once, for the client, on the chain and in the ledger. @returns the stack, for other suites on it
 */
export function failpointMatrix(suite: FailpointSuite): () => CrashFixture {
  let fixture: CrashFixture;

  beforeAll(async () => {
    fixture = await startCrashFixture(suite.options);
    for (const [asset, dollars] of suite.funds) await fund(fixture, asset, dollars);
  }, STEP_MS);
  afterAll(async () => {
    await fixture?.stop();
  }, STEP_MS);

  for (const rows of roundsOf(rowsOfTheDay(suite))) {
    const work = async () => {
      const reports = new Map(
        rows.flatMap((row) =>
          pointsOf(row).map((point) => [nameOf(row.service, point), unhurt(row.service, point)]),
        ),
      );
      try {
        await playRound({ fixture, always: suite.always, rows, reports });
      } catch (error) {
        for (const report of reports.values()) report.violations += 1;
        const complaints = fixture.complaints();
        // Some are dead, and some will die that were told to.
        await fixture.start(runningOf(fixture));
        throw new Error(`${reason(error)}\n\nThe services said:\n${complaints}`, { cause: error });
      } finally {
        for (const report of reports.values()) reportFault(report);
      }
    };
    test(`killed: ${who(rows)}`, work, STEP_MS + rows.flatMap(pointsOf).length * DEATH_MS);
  }
  return () => fixture;
}

const nameOf = (service: Service, point: string) => `${service} killed at ${nameOfPoint(point)}`;

const unhurt = (service: Service, point: string): FaultReport => ({
  group: 'crash matrix',
  fault: nameOf(service, point),
  fired: 0,
  violations: 0,
  slowestRecoveryMs: undefined,
});

const who = (rows: readonly Row[]): string =>
  [...Map.groupBy(rows, ({ service }) => service)]
    .map(([service, own]) => `${service} at ${own.flatMap(pointsOf).join(', ')}`)
    .join(' and ');

export const runningOf = ({ quittance }: CrashFixture): Service[] =>
  services.filter((service) => quittance.stack.services[service] !== undefined);

/** Who dies in the same round: each service a few times, so that not everything is waited for after every death. */
function roundsOf(rows: readonly Row[]): Row[][] {
  const shared = rows.filter(({ alone }) => alone !== true);
  const turns = [...Map.groupBy(shared, ({ service }) => service).values()];
  const rounds: Row[][] = [];
  const most = Math.max(0, ...turns.map(({ length }) => length));
  for (let from = 0; from < most; from += DEATHS_MAX) {
    const together = turns.map((own) => own.slice(from, from + DEATHS_MAX)).filter((own) => own.length > 0);
    if (DEATHS_MAX === 1) rounds.push(...together);
    else rounds.push(together.flat());
  }
  // First, while there is little to be read again.
  rounds.unshift(...rows.filter(({ alone }) => alone === true).map((row) => [row]));
  return rounds;
}

type Round = {
  fixture: CrashFixture;
  always: Scenario;
  rows: readonly Row[];
  /** By name. */
  reports: ReadonlyMap<string, FaultReport>;
};

async function playRound({ fixture, always, rows, reports }: Round): Promise<void> {
  const begun: Promise<Ended>[] = [];
  const failing = Promise.withResolvers<never>();
  const begin = (scenario: Promise<Ended>): Promise<unknown> => {
    begun.push(scenario);
    return scenario.catch(failing.reject);
  };
  const deaths = rows.map(() => Promise.withResolvers<void>());
  const dying = new AbortController();

  const turns = [...Map.groupBy(rows, ({ service }) => service).values()].map(dieInTurn);
  const customers = rows.some(({ alone }) => alone === true) ? undefined : comeAndGo();
  let restarts: Restart[];
  try {
    restarts = await Promise.race([Promise.all(turns), failing.promise]);
  } finally {
    // Whoever waits for a death that did not come need wait no longer.
    dying.abort();
    for (const { resolve } of deaths) resolve();
    await Promise.allSettled(turns);
  }
  await Promise.race([customers, failing.promise]);
  const ended = await Promise.all(begun);
  await expectAllWell(fixture, ended);
  const endedAt = performance.now();
  const lastStartAt = Math.max(...restarts.map(({ startedAt }) => startedAt));
  for (const { service, point } of restarts) {
    const report = reports.get(nameOf(service, point));
    // Of those who died again at once, and while others were still dying, nobody can say how long they took.
    if (report !== undefined) report.slowestRecoveryMs = endedAt - lastStartAt;
  }
  for (const { service } of restarts) expectClearLog(fixture, service);
  expect(endedAt - Math.max(...restarts.map(({ servesAt }) => servesAt))).toBeLessThan(
    recoversWithinMs(restarts.map(({ service }) => service)),
  );

  /** What runs across every crash: one customer after the other, as long as somebody is to die. */
  async function comeAndGo(): Promise<void> {
    while (!dying.signal.aborted) {
      if ((await payoutsUnderway(fixture)) < PAYOUTS_MAX) await begin(always(fixture, Promise.resolve()));
      await sleep(PAUSE_MS);
    }
  }

  async function dieInTurn(own: readonly Row[]): Promise<Restart> {
    const turns = own.flatMap((row) => [row.point, ...(row.next ?? [])].map((point) => ({ row, point })));
    for (const [i, { row, point }] of turns.entries()) {
      const isFirst = point === row.point;
      if (isFirst) for (const scenario of (await row.prepare?.(fixture)) ?? []) void begin(scenario);
      dying.signal.throwIfAborted();
      await fixture.arm(row.service, point);
      const death = deaths[rows.indexOf(row)];
      if (isFirst && row.scenario !== undefined && death !== undefined)
        void begin(row.scenario(fixture, death.promise));
      await fixture.died(row.service, point, dying.signal);
      const report = reports.get(nameOf(row.service, point));
      if (report !== undefined) report.fired += 1;
      if (turns[i + 1]?.row !== row) death?.resolve();
      // It dies again at once: what it held then is not waited for. In the end it is.
      if (i + 1 < turns.length) await fixture.releaseHeld(row.service);
      else {
        const startedAt = performance.now();
        await fixture.start([row.service]);
        return { service: row.service, point, startedAt, servesAt: performance.now() };
      }
    }
    throw new Error('the last death is followed by a start');
  }
}

async function payoutsUnderway({ quittance: { db } }: CrashFixture): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    `select count(*)::int from payouts.payouts where status not in ('mined', 'failed', 'refused', 'voided')`,
  );
  return count;
}

/** The last start of a service in its round. */
type Restart = { service: Service; point: string; startedAt: number; servesAt: number };

/** All that was begun has ended once, nothing is in flight, and the ledger and the chains agree. */
export async function expectAllWell(fixture: CrashFixture, ended: readonly Ended[]): Promise<void> {
  const { db } = fixture.quittance;
  const unended = new Set(ended);
  await eventually(
    async () => {
      const open = await db.one<Record<'unsent' | 'undelivered' | 'unended', number>>(
        `select (select count(*)::int from (
             select sent_at from invoices.outbox union all select sent_at from payouts.outbox
             union all select sent_at from ledger.outbox) as events where sent_at is null) as unsent,
           (select count(*)::int from webhooks.deliveries where state <> 'delivered') as undelivered,
           (select count(*)::int from payouts.transactions where state in ('signed', 'broadcast')) as unended`,
      );
      expect(open).toEqual({ unsent: 0, undelivered: 0, unended: 0 });
      for (const end of unended) {
        await end();
        unended.delete(end);
      }
      // Once more, all of them: what has ended has ended once, whatever came after it.
      for (const end of ended) await end();
      expect(await crashViolations(fixture)).toEqual([]);
      expect((await fixture.quittance.books()).discrepancies).toEqual([]);
    },
    WAITS_FOR_MS,
    ASK_EVERY_MS,
  );
}

/** Who came back says so in one line, and has left no stack trace that no reader can use. */
function expectClearLog(fixture: CrashFixture, service: Service): void {
  const lines = fixture.logOf(service);
  const entries = lines.map((line) => JSON.parse(line) as { msg?: string });
  // The signer listens nowhere.
  const started = service === 'signer' ? ' for these hot wallets' : ' listens';
  expect(entries.filter(({ msg }) => msg?.endsWith(started) === true)).toHaveLength(1);
  expect(lines.filter((line) => line.includes('\\n    at '))).toEqual([]);
}
