import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Service } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import { type Fault, type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import { patient } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import pg from 'pg';
import { pidsOf, putBetween } from './between.ts';
import { type DiskImage, openDiskImage, whyNoDisks } from './disk-image.ts';
import { expectHarmless, expectTrueWords, faultsNotTried, recovered } from './expect-harmless.ts';
import { type Load, startLoad } from './load.ts';
import { type LogLines, logLines } from './log-lines.ts';
import { lookingOn, unseemly } from './onlookers.ts';
import { faultsOfTheDay, sized } from './size.ts';
import { type Case, notConnected, onTheWay, recurring } from './wire.ts';

/**
 * Whatever becomes of Postgres or the way to it: what was acknowledged is there, no service ends, and all go on within
 * five seconds. What a client is told meanwhile is kept by the load and held against the truth in the end.
 */
const FAULT_MS = sized(1_000, 15_000);
/** Faults that come and go under load, as long as they last. */
const STORM_MS = sized(1_500, 60_000);
const RECONNECT_WITHIN_MS = 5_000;
const SLACK_MS = 5_000;
const SLOTS = 100;
const services = ['gateway', 'invoices', 'payouts', 'ledger', 'webhooks'] as const;
const READ = ['/api/balances', '/api/invoices', '/api/payouts', '/api/assets'];
/** Of answers, whose largest here are a page of payouts and one of deposits to sweep: 27 kB each. */
const SOME_BYTES = { afterBytes: 1_000, upTo: 100_000 };
/** While connections are cut fewer payouts are paid than asked for: in the end five to eight hundred are open. */
const ENDS_WITHIN_MS = patient(sized(120_000, 600_000));
/** Nobody who only reads is told anything else than that it may come back. */
const TOLD = [200, 503];

jest.setTimeout(patient(FAULT_MS + STORM_MS + 120_000));

let disk: DiskImage | undefined;
let quittance: Quittance;
let proxy: FaultProxy;
let load: Load;
let logs: LogLines;
let pids: (number | undefined)[];

const noDisks = await whyNoDisks();

beforeAll(async () => {
  disk = noDisks === undefined ? await openDiskImage('full') : undefined;
  quittance = await startQuittance({
    chains: [],
    fixedFees: true,
    durable: true,
    postgresSettings: {
      max_connections: String(SLOTS),
      max_wal_size: '64MB',
      min_wal_size: '32MB',
    },
    ...(disk === undefined ? {} : { engineDirs: { postgres: join(disk.folder, 'postgres') } }),
  });
  proxy = await startFaultProxy(quittance.stack.adminUrl, 11);
  await putBetween(
    quittance,
    services.map((service) => ({ service, setting: 'DATABASE_URL', through: proxy.through })),
  );
  load = await startLoad(quittance);
  logs = logLines(quittance);
  pids = pidsOf(quittance);
});
afterAll(async () => {
  try {
    await load?.abandon();
    await quittance?.stop();
  } finally {
    // Also where an invariant is violated in the end.
    await proxy?.close();
    await disk?.close();
  }
});

const engine = () => quittance.stack.engines.postgres;
const way = (fault: Fault) => onTheWay(() => proxy, fault);

type Met = Case & {
  /** Services that surely meet it and say so. */
  met?: readonly Service[];
};

/** In the words of the driver, of the operating system or of Postgres itself. */
const PROBLEM =
  /"level":"(?:warn|error)".*(?:connect|terminat|database|ECONN|EPIPE|timeout|shut|clients|space left)/i;

const kinds: Met[][] = [
  [
    { fault: 'Postgres killed', ...notConnected(engine, 'kill'), met: services },
    { fault: 'Postgres stopped and started in order', ...notConnected(engine, 'stop'), met: services },
  ],
  [
    {
      fault: 'connections to Postgres cut',
      ms: STORM_MS,
      ...recurring(() => proxy.cut()),
      met: services,
    },
    {
      fault: 'backends of Postgres terminated',
      ms: STORM_MS,
      ...recurring(async () => {
        const ended = await quittance.db.rows(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'quittance-%'
         and usename <> 'postgres'`,
        );
        return ended.length;
      }),
      met: services,
    },
  ],
  [
    {
      fault: 'connections cut before their COMMIT',
      ...way({ kind: 'cut commits', when: 'before', share: 0.15 }),
      ms: STORM_MS,
      met: ['payouts', 'ledger'],
    },
    {
      fault: 'connections cut after their COMMIT, before its answer',
      ...way({ kind: 'cut commits', when: 'after', share: 0.15 }),
      ms: STORM_MS,
      met: ['payouts', 'ledger'],
    },
  ],
  [
    {
      fault: 'connections cut in the middle of an answer',
      ...way({ kind: 'reset', ...SOME_BYTES }),
      ms: STORM_MS,
      met: ['payouts'],
    },
    {
      fault: 'connections half-closed in the middle of an answer',
      ...way({ kind: 'half-close', ...SOME_BYTES }),
      ms: STORM_MS,
      met: ['payouts'],
    },
  ],
  [
    {
      fault: 'Postgres not to be reached',
      ...way({ kind: 'refuse' }),
      met: services,
    },
    { fault: 'Postgres in a black hole', ...way({ kind: 'black hole' }) },
    { fault: 'Postgres 40 ms late', ...way({ kind: 'latency', ms: 40 }) },
    {
      fault: 'answers of Postgres in drops',
      ...way({ kind: 'drip', bytes: 64, everyMs: 2 }),
    },
  ],
  [{ fault: 'all of its connections taken by others', ...crowded(), met: services }],
];
const cases = faultsOfTheDay(kinds);

test.each(cases)('$fault: nothing acknowledged is lost, and all go on', (one) => meet(one));

if (noDisks === undefined)
  test('its disk is full, and is so no more', () => meet({ ...full(), fault: 'disk of Postgres full' }));
else faultsNotTried('postgres', ['disk of Postgres full'], noDisks);

const meet = ({ fault, begin, end, ms = FAULT_MS, fired, strikes, met = [] }: Met): Promise<void> =>
  expectHarmless('postgres', fault, async (found) => {
    await load.nextAccepted(RECONNECT_WITHIN_MS);
    logs.mark();
    const during = await lookingOn(
      load.merchant,
      async () => {
        try {
          await begin();
          await sleep(ms);
          // It lasts until those who are sure to meet it have: a service may have had nothing to ask so far.
          await Promise.all(met.map((service) => logs.said(service, PROBLEM)));
          found.fired = await fired();
        } finally {
          await end();
        }
      },
      { paths: READ },
    );
    const began = performance.now();
    await load.nextAccepted(RECONNECT_WITHIN_MS + SLACK_MS);
    await ready();
    const recoveryMs = performance.now() - began;
    recovered(found, recoveryMs);

    found.violations.push(...logs.unusable(strikes?.()), ...unseemly(during, TOLD));
    if (recoveryMs > patient(RECONNECT_WITHIN_MS))
      found.violations.push(`all were back after ${recoveryMs} ms`);
    if (pidsOf(quittance).some((pid, i) => pid !== pids[i])) found.violations.push('a service ended');
  });

/** Somebody else has every connection that Postgres gives. */
function crowded(): Pick<Case, 'begin' | 'end' | 'fired'> {
  const others: pg.Client[] = [];
  return {
    async begin() {
      proxy.set({ kind: 'refuse' });
      for (;;) {
        const other = new pg.Client({ connectionString: quittance.stack.adminUrl });
        other.on('error', () => undefined);
        try {
          await other.connect();
        } catch (error) {
          if ((error as { code?: string }).code !== '53300') throw error;
          break;
        }
        others.push(other);
      }
      proxy.set({ kind: 'pass' });
    },
    async end() {
      await Promise.all(others.splice(0).map((other) => other.end()));
    },
    fired: () => others.length,
  };
}

/** A file that takes all the room there is; and Postgres is made to need more. */
function full(): Pick<Met, 'begin' | 'end' | 'fired' | 'met'> {
  const filler = () => join(disk?.folder ?? '', 'filler');
  let refused = 0;
  return {
    async begin() {
      await quittance.db.rows('create table public.growing (text text)');
      const { bsize, bfree } = statfsSync(disk?.folder ?? '');
      // All that root may take, which is more than Postgres may.
      for (let left = bsize * bfree; left > bsize; left = Math.floor(left / 2)) fill(filler(), left);
      await eventually(async () => {
        const grows = quittance.db.rows(
          `insert into public.growing select repeat(md5(random()::text), 100) from generate_series(1, 3000)`,
        );
        await grows.then(
          () => {
            throw new Error('there is still room');
          },
          (error: unknown) => {
            if (!/No space left|terminat|recovery|ECONN/i.test(String(error))) throw error;
            refused += 1;
          },
        );
      });
    },
    async end() {
      rmSync(filler(), { force: true });
      // One that could not even write its log has ended.
      if (engine().pid === undefined) await engine().restart();
      await eventually(() => quittance.db.rows('drop table if exists public.growing'));
    },
    fired: () => refused,
    met: ['payouts'],
  };
}

function fill(file: string, bytes: number): void {
  const from = String(statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  try {
    execFileSync('fallocate', ['--offset', from, '--length', String(bytes), file], { stdio: 'ignore' });
  } catch {
    // That much is not left: half of it may be.
  }
}

const ready = (): Promise<void> =>
  eventually(async () => {
    for (const service of services) {
      const answer = await fetch(`http://127.0.0.1:${quittance.stack.ports[service]}/readyz`);
      if (!answer.ok) throw new Error(`${service} is not ready: ${await answer.text()}`);
    }
  }, RECONNECT_WITHIN_MS + SLACK_MS);

test(
  'in the end every word that was given is true',
  async () => {
    const { accepted } = await expectTrueWords('postgres', load);
    expect(accepted).toBeGreaterThan(cases.length);
  },
  ENDS_WITHIN_MS,
);
