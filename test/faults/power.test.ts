import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { startNats } from '@quittance/engines/nats';
import { startPostgres } from '@quittance/engines/postgres';
import { allReady } from '@quittance/testkit/between';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { connect } from 'nats';
import pg from 'pg';
import { type BusState, busState } from './bus-state.ts';
import { cutPower, type DiskImage, openDiskImage, type Powered, whyNoDisks } from './disk-image.ts';
import {
  expectAllHarmless,
  expectHarmless,
  expectTrueWords,
  faultsNotTried,
  recovered,
} from './expect-harmless.ts';
import { fillUp } from './full-disk.ts';
import {
  nameOf,
  type OnlyOnTheBus,
  type Route,
  sentAgain,
  untilInFlight,
  untilSigned,
} from './lost-events.ts';
import { sized } from './size.ts';
import { type UnderLoad, underLoad } from './under-load.ts';
import { untilArrived } from './until-arrived.ts';

/**
 * Postgres and NATS lose their power under load, each alone and both together, and start on what was on their disks. What
 * Postgres acknowledged is there. The broker forgets what it has acknowledged, often the whole stream, with money's own
 * events in it that no service has processed: no effect is lost, because the record is in the databases.
 */
const GROUP = 'power';
const FAULT = 'Postgres loses its power';
const ALWAYS = 'NATS with sync_interval always loses its power';
const NATS_FULL = 'disk of NATS full';
const POSTGRES_CUTS = sized(2, 20);
/** So many payouts more before each: there is something to lose. */
const ACCEPTED_BEFORE_A_CUT = 5;
const ACCEPTED_WITHIN_MS = 30_000;
/** Rounds of cuts of NATS in quick succession, after each of which everything heals. */
const ROUNDS = sized(1, 10);
const NATS_CUTS = sized(1, 2);
/** A service has its connections back within this. */
const RECONNECT_WITHIN_MS = 5_000;
const SLACK_MS = 2_000;
/** All effects of what was published before a cut have arrived within this. */
const HEALED_WITHIN_MS = 60_000;
const ACCEPTS_WITHIN_MS = 20_000;
const ACKNOWLEDGED = 50;

jest.setTimeout(patient(Math.max(ROUNDS * 180_000, POSTGRES_CUTS * 30_000) + 180_000));

/** What only NATS has when its power goes: the ledger is dead. */
const inIt: Route[] = [
  { kind: 'deposit.settled', to: 'ledger' },
  { kind: 'hold.settle', to: 'ledger' },
];
const disks: DiskImage[] = [];

async function newDisk(name: string): Promise<DiskImage> {
  const disk = await openDiskImage(name);
  disks.push(disk);
  return disk;
}

/** A cut takes something away, and it does so from those who acknowledge before they write. */
function enginesAlone(): void {
  afterEach(async () => {
    for (const disk of disks.splice(0)) await disk.close();
  });

  test('a Postgres that does not wait for its disk loses what it has acknowledged', async () => {
    const disk = await newDisk('hasty');
    const hasty = { synchronous_commit: 'off', wal_writer_delay: '10s' };
    const postgres = await startPostgres({ dataDir: `${disk.folder}/postgres`, port: 0, settings: hasty });
    try {
      const count = (sql: string) => onServer(postgres.url, sql);
      await count('create table told (n int)');
      await count('checkpoint');
      for (let n = 0; n < ACKNOWLEDGED; n++) await count(`insert into told values (${n})`);
      const cut = await cutPower([{ engine: postgres, disk }]);
      await postgres.restart();
      const { n } = await count('select count(*)::int as n from told');
      expect(n).toBeLessThan(ACKNOWLEDGED);
      expect(cut).toEqual({ lostUnsynced: true, keptSynced: true });
    } finally {
      await postgres.stop();
    }
  });

  test('NATS with sync_interval always loses nothing that it has acknowledged', () =>
    expectHarmless(GROUP, ALWAYS, async (found) => {
      const disk = await newDisk('always');
      const dataDir = `${disk.folder}/nats`;
      const nats = await startNats({ dataDir, port: 0, syncInterval: 'always' });
      try {
        const client = await connect({ servers: nats.url });
        const { streams } = await client.jetstreamManager();
        await streams.add({ name: 'told', subjects: ['told'] });
        execFileSync('sync', ['--file-system', disk.folder]);
        for (let n = 0; n < ACKNOWLEDGED; n++) await client.jetstream().publish('told', `${n}`);
        const { lostUnsynced } = await cutPower([{ engine: nats, disk }]);
        found.fired = lostUnsynced ? 1 : 0;
        await client.close();
        await nats.restart();
        const again = await connect({ servers: nats.url });
        const { state } = await (await again.jetstreamManager()).streams.info('told');
        await again.close();
        expect(state.messages).toBe(ACKNOWLEDGED);
      } finally {
        await nats.stop();
      }
    }));
}

async function onServer(url: string, sql: string): Promise<{ n: number }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ n: number }>(sql);
    return rows[0] ?? { n: 0 };
  } finally {
    await client.end();
  }
}

type Cuts = { fired: number; lostByBroker: number; lostStreams: number; inIt: OnlyOnTheBus[] };
const noCuts = (): Cuts => ({ fired: 0, lostByBroker: 0, lostStreams: 0, inIt: [] });

/** One cut of NATS under load, alone or with others; notes what it took from the broker. Answers when it was. */
async function cutNats(
  { quittance, load, between: nats }: UnderLoad<Powered>,
  others: readonly Powered[],
  cuts: Cuts,
): Promise<Date> {
  const { ledger } = quittance.stack.services;
  const powered = [nats, ...others];
  await load.nextAccepted(ACCEPTS_WITHIN_MS);
  await sleep((cuts.fired * 377) % 1_000);
  await untilSigned(quittance);
  ledger.kill();
  cuts.inIt.push(...(await untilInFlight(quittance, inIt)));
  const natsDir = `${nats.disk.folder}/nats`;
  let before: BusState | undefined;
  const when = new Date();
  const { lostUnsynced, keptSynced } = await cutPower(powered, async () => {
    before = busState(natsDir);
  });
  const after = busState(natsDir);
  expect(keptSynced).toBe(true);
  if (lostUnsynced) cuts.fired += 1;
  await Promise.all(powered.map(({ engine }) => engine.restart()));
  await ledger.restart();
  const [had, has] = [await before?.events(), await after.events()];
  cuts.lostByBroker += (had ?? 0) - (has ?? 0);
  if (had !== undefined && has === undefined) cuts.lostStreams += 1;
  return when;
}

const said = ({ lostByBroker, lostStreams }: Cuts) =>
  `the broker lost ${lostByBroker} acknowledged messages${lostStreams === 0 ? '' : ` and ${lostStreams} streams`}`;

function stackUnderLoad(): void {
  let disk: DiskImage;
  const on = underLoad({
    async options() {
      disk = await newDisk('postgres');
      const nats = await newDisk('nats');
      return {
        chains: [],
        fixedFees: true,
        durable: true,
        quiet: true,
        // Checkpoints come often enough for cuts to meet them.
        postgresSettings: { max_wal_size: '64MB', min_wal_size: '32MB', checkpoint_timeout: '30s' },
        engineDirs: { postgres: `${disk.folder}/postgres`, nats: `${nats.folder}/nats` },
        // Longer than its default of two minutes: a busy machine may need longer from one cut to the next.
        natsSyncInterval: '10m',
      };
    },
    between: async ({ stack }): Promise<Powered> => ({
      engine: stack.engines.nats,
      disk: disks.at(-1) as DiskImage,
    }),
    async close() {
      for (const one of disks.splice(0)) await one.close();
    },
  });
  const postgres = (): Powered => ({ engine: on.quittance.stack.engines.postgres, disk });

  test(`Postgres loses its power ${POSTGRES_CUTS} times: everything acknowledged is there, the services come back`, async () => {
    const { quittance, load } = on;
    expect(quittance.stack.engines.postgres.dataDir).toBe(`${disk.folder}/postgres`);
    const name = () => `${FAULT} (${load.counts().accepted} payouts acknowledged)`;
    on.mark();
    await expectHarmless(GROUP, name, async (found) => {
      for (let i = 0; i < POSTGRES_CUTS; i++) {
        await eventually(
          () => expect(load.counts().accepted).toBeGreaterThan((i + 1) * ACCEPTED_BEFORE_A_CUT),
          ACCEPTED_WITHIN_MS,
        );
        await load.nextAccepted(RECONNECT_WITHIN_MS);
        // At another moment of the load each time.
        await sleep(700 + ((i * 377) % 1_000));
        const { lostUnsynced, keptSynced } = await cutPower([postgres()]);
        expect(keptSynced).toBe(true);
        // The file system forgot what was not synced: it was a cut, and not an orderly end.
        found.fired += lostUnsynced ? 1 : 0;
        await quittance.stack.engines.postgres.restart();
        const began = performance.now();
        await load.nextAccepted(RECONNECT_WITHIN_MS + SLACK_MS);
        const ms = performance.now() - began;
        recovered(found, ms);
        if (ms > patient(RECONNECT_WITHIN_MS)) found.violations.push(`all were back after ${ms} ms`);
        await allReady(quittance, RECONNECT_WITHIN_MS + SLACK_MS);
      }
      found.violations.push(...on.endedServices());
    });
  });

  test('NATS loses its power between two syncs: the broker loses acknowledged messages, and no effect is lost', async () => {
    const [alone, together] = [noCuts(), noCuts()];
    const names = [
      () => `NATS loses its power: ${said(alone)}`,
      () => `NATS and Postgres lose their power at once: ${said(together)}`,
      ...inIt.map((route) => `power cuts of NATS: ${nameOf(route)} that it lost`),
    ];
    await expectAllHarmless(GROUP, names, async (rows) => {
      const { quittance } = on;
      for (let round = 0; round < ROUNDS; round++) {
        for (let i = 0; i < NATS_CUTS; i++) await cutNats(on, [], alone);
        const last = await cutNats(on, [postgres()], together);
        const ms = await untilArrived(quittance, last, HEALED_WITHIN_MS);
        for (const row of rows) recovered(row, ms);
      }
      const [ofAlone, ofTogether, ...ofLost] = rows;
      if (ofAlone !== undefined) ofAlone.fired = alone.fired;
      if (ofTogether !== undefined) ofTogether.fired = together.fired;
      for (const some of [...alone.inIt, ...together.inIt]) {
        const row = ofLost[inIt.indexOf(some.route)];
        if (row !== undefined) row.fired += await sentAgain(quittance, some);
      }
      // What makes it a proof: the broker did lose something.
      expect(alone.lostByBroker).toBeGreaterThan(0);
    });
  });

  test('the disk of NATS is full: events wait with their senders, who say so, and arrive when there is room', () =>
    expectHarmless(GROUP, NATS_FULL, async (found) => {
      const { quittance, logs, between: nats } = on;
      on.mark();
      const makeRoom = fillUp(nats.disk);
      try {
        await logs.said(
          'payouts',
          /"reason":"[^"]*no space left on device: make room on the disk of NATS","msg":"events could not be published/,
        );
        found.fired = 1;
      } finally {
        makeRoom();
      }
      recovered(found, await untilArrived(quittance, new Date(), HEALED_WITHIN_MS));
      found.violations.push(...on.endedServices());
    }));

  test('in the end every word that was given is true', async () => {
    await expectTrueWords(GROUP, on.load);
  });
}

const why = await whyNoDisks();
if (why === undefined) {
  describe('an engine whose power is cut', enginesAlone);
  describe('a stack whose power is cut', stackUnderLoad);
} else {
  faultsNotTried(GROUP, [FAULT, ALWAYS, 'NATS and Postgres lose their power at once', NATS_FULL], why);
}
