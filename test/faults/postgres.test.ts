import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { allReady, putBetween } from '@quittance/testkit/between';
import { eventually } from '@quittance/testkit/eventually';
import { type Fault, startFaultProxy } from '@quittance/testkit/fault-proxy';
import { patient } from '@quittance/testkit/patience';
import pg from 'pg';
import { type DiskImage, openDiskImage, whyNoDisks } from './disk-image.ts';
import { expectHarmless, expectTrueWords, faultsNotTried } from './expect-harmless.ts';
import { fillUp } from './full-disk.ts';
import { faultsOfTheDay, sized } from './size.ts';
import { goThrough, type Met, underLoad } from './under-load.ts';
import { notConnected, onTheWay, striking } from './wire.ts';

/**
 * Whatever becomes of Postgres or the way to it: what was acknowledged is there, no service ends, and all go on within
 * five seconds. What a client is told meanwhile is kept by the load and held against the truth in the end.
 */
const FAULT_MS = sized(1_000, 15_000);
/** Faults that come and go under load, as long as they last. */
const STORM_MS = sized(1_500, 60_000);
const RECONNECT_WITHIN_MS = 5_000;
const SLOTS = 100;
const services = ['gateway', 'invoices', 'payouts', 'ledger', 'webhooks'] as const;
/** Of answers, whose largest here are a page of payouts and one of deposits to sweep: 27 kB each. */
const SOME_BYTES = { afterBytes: 1_000, upTo: 100_000 };
/** While connections are cut fewer payouts are paid than asked for: in the end five to eight hundred are open. */
const ENDS_WITHIN_MS = patient(sized(120_000, 600_000));
/** Nobody who only reads is told anything else than that it may come back. */
const TOLD = [200, 503];

jest.setTimeout(patient(FAULT_MS + STORM_MS + 180_000));

let disk: DiskImage | undefined;
const noDisks = await whyNoDisks();

const on = underLoad({
  async options() {
    disk = noDisks === undefined ? await openDiskImage('full') : undefined;
    return {
      chains: [],
      fixedFees: true,
      durable: true,
      postgresSettings: {
        max_connections: String(SLOTS),
        max_wal_size: '64MB',
        min_wal_size: '32MB',
      },
      ...(disk === undefined ? {} : { engineDirs: { postgres: join(disk.folder, 'postgres') } }),
    };
  },
  async between(quittance) {
    const proxy = await startFaultProxy(quittance.stack.adminUrl, 11);
    await putBetween(
      quittance,
      services.map((service) => ({ service, setting: 'DATABASE_URL', through: proxy.through })),
    );
    return proxy;
  },
  async close(proxy) {
    await proxy.close();
    await disk?.close();
  },
});

const engine = () => on.quittance.stack.engines.postgres;
const way = (fault: Fault) => onTheWay(() => on.between, fault);

/** In the words of the driver, of the operating system or of Postgres itself. */
const PROBLEM =
  /"level":"(?:warn|error)".*(?:connect|terminat|database|ECONN|EPIPE|timeout|shut|clients|space left)/i;

const faults: Met[] = [
  { fault: 'Postgres killed', ...notConnected(engine, 'kill'), met: services },
  { fault: 'Postgres stopped and started in order', ...notConnected(engine, 'stop'), met: services },
  {
    fault: 'connections to Postgres cut',
    ms: STORM_MS,
    ...striking(() => on.between.cut()),
    met: services,
  },
  {
    fault: 'backends of Postgres terminated',
    ms: STORM_MS,
    ...striking(async () => {
      const ended = await on.quittance.db.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'quittance-%'
         and usename <> 'postgres'`,
      );
      return ended.length;
    }),
    met: services,
  },
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
  { fault: 'all of its connections taken by others', ...crowded(), met: services },
];
const cases = faultsOfTheDay(faults);

test.each(cases)('$fault: nothing acknowledged is lost, and all go on', (one) => meet(one));

if (noDisks === undefined)
  test('its disk is full, and is so no more', () => meet({ ...full(), fault: 'disk of Postgres full' }));
else faultsNotTried('postgres', ['disk of Postgres full'], noDisks);

const meet = (one: Met): Promise<void> =>
  expectHarmless('postgres', one.fault, async (found) => {
    await goThrough(on, [found], one, {
      lastsMs: FAULT_MS,
      says: PROBLEM,
      told: TOLD,
      healsWithinMs: RECONNECT_WITHIN_MS,
      healed: () => allReady(on.quittance, 2 * RECONNECT_WITHIN_MS),
    });
  });

/** Somebody else has every connection that Postgres gives. */
function crowded(): Pick<Met, 'begin' | 'end' | 'fired'> {
  const others: pg.Client[] = [];
  return {
    async begin() {
      on.between.set({ kind: 'refuse' });
      for (;;) {
        const other = new pg.Client({ connectionString: on.quittance.stack.adminUrl });
        other.on('error', () => undefined);
        try {
          await other.connect();
        } catch (error) {
          if ((error as { code?: string }).code !== '53300') throw error;
          break;
        }
        others.push(other);
      }
      on.between.set({ kind: 'pass' });
    },
    async end() {
      await Promise.all(others.splice(0).map((other) => other.end()));
    },
    fired: () => others.length,
  };
}

/** A file that takes all the room there is; and Postgres is made to need more. */
function full(): Pick<Met, 'begin' | 'end' | 'fired' | 'met'> {
  let makeRoom = () => {};
  let refused = 0;
  return {
    async begin() {
      await on.quittance.db.rows('create table public.growing (text text)');
      if (disk !== undefined) makeRoom = fillUp(disk);
      await eventually(async () => {
        const grows = on.quittance.db.rows(
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
      makeRoom();
      // One that could not even write its log has ended.
      if (engine().pid === undefined) await engine().restart();
      await eventually(() => on.quittance.db.rows('drop table if exists public.growing'));
    },
    fired: () => refused,
    met: ['payouts'],
  };
}

test(
  'in the end every word that was given is true',
  async () => {
    const { accepted } = await expectTrueWords('postgres', on.load);
    expect(accepted).toBeGreaterThan(cases.length);
  },
  ENDS_WITHIN_MS,
);
