import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { patient } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { type BusState, busState } from './bus-state.ts';
import { cutPower, type DiskImage, openDiskImage, type Powered, whyNoDisks } from './disk-image.ts';
import { expectAllHarmless, expectHarmless, faultsNotTried, recovered } from './expect-harmless.ts';
import { type Load, startLoad } from './load.ts';
import { nameOf, type OnlyOnTheBus, type Route, sentAgain, untilInFlight } from './lost-events.ts';
import { sized } from './size.ts';
import { untilArrived } from './until-arrived.ts';

/**
 * NATS loses its power under load, alone and together with Postgres. As it is by default the broker forgets what it has
 * acknowledged, often the whole stream; as it is with `sync_interval: always` it does not. Each time it has money's own
 * events in it that no service has processed. No effect is lost either way: the record is in the databases.
 */
const GROUP = 'power';
/** Rounds of cuts in quick succession, after each of which everything heals. */
const ROUNDS = sized(1, 10);
const CUTS = sized(1, 2);
/** All effects of what was published before a cut have arrived within this. */
const HEALED_WITHIN_MS = 60_000;
const ACCEPTS_WITHIN_MS = 20_000;

jest.setTimeout(patient(ROUNDS * 180_000 + 180_000));

/** What only NATS has when its power goes: the ledger is dead. */
const inIt: Route[] = [
  { kind: 'deposit.settled', to: 'ledger' },
  { kind: 'hold.settle', to: 'ledger' },
];

const disks: DiskImage[] = [];
let quittance: Quittance | undefined;
let load: Load | undefined;
afterEach(async () => {
  try {
    await load?.abandon();
    await quittance?.stop();
  } finally {
    for (const disk of disks.splice(0)) await disk.close();
    [load, quittance] = [undefined, undefined];
  }
});

async function newDisk(name: string): Promise<DiskImage> {
  const disk = await openDiskImage(name);
  disks.push(disk);
  return disk;
}

type Cuts = { fired: number; lostByBroker: number; lostStreams: number; inIt: OnlyOnTheBus[] };
const noCuts = (): Cuts => ({ fired: 0, lostByBroker: 0, lostStreams: 0, inIt: [] });

/** One cut under load; notes what it took from the broker. Answers when it was. */
async function cut(
  { running, at }: Pick<Started, 'running' | 'at'>,
  powered: readonly [Powered, ...Powered[]],
  cuts: Cuts,
): Promise<Date> {
  const { ledger } = running.stack.services;
  await at.nextAccepted(ACCEPTS_WITHIN_MS);
  await sleep((cuts.fired * 377) % 1_000);
  ledger.kill();
  cuts.inIt.push(...(await untilInFlight(running, inIt)));
  const natsDir = `${powered[0].disk.folder}/nats`;
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

type Started = { running: Quittance; at: Load; nats: Powered; postgres: Powered };

async function start(natsSyncInterval?: string): Promise<Started> {
  const [postgres, nats] = [await newDisk('postgres'), await newDisk('nats')];
  const running = await startQuittance({
    chains: [],
    fixedFees: true,
    durable: true,
    quiet: true,
    postgresSettings: { max_wal_size: '64MB', min_wal_size: '32MB' },
    engineDirs: { postgres: `${postgres.folder}/postgres`, nats: `${nats.folder}/nats` },
    ...(natsSyncInterval === undefined ? {} : { natsSyncInterval }),
  });
  quittance = running;
  const at = await startLoad(running);
  load = at;
  const { engines } = running.stack;
  return {
    running,
    at,
    nats: { engine: engines.nats, disk: nats },
    postgres: { engine: engines.postgres, disk: postgres },
  };
}

const said = ({ lostByBroker, lostStreams }: Cuts) =>
  `the broker lost ${lostByBroker} acknowledged messages${lostStreams === 0 ? '' : ` and ${lostStreams} streams`}`;

const why = await whyNoDisks();
if (why !== undefined) {
  faultsNotTried(GROUP, ['NATS loses its power', 'NATS and Postgres lose their power at once'], why);
} else {
  describe('a bus whose power is cut', () => {
    test('between two syncs: the broker loses acknowledged messages, and no effect is lost', async () => {
      const [alone, together] = [noCuts(), noCuts()];
      const names = [
        () => `NATS loses its power: ${said(alone)}`,
        () => `NATS and Postgres lose their power at once: ${said(together)}`,
        ...inIt.map((route) => `power cuts of NATS: ${nameOf(route)} that it lost`),
      ];
      await expectAllHarmless(GROUP, names, async (rows) => {
        // Longer than its default of two minutes: a busy machine may need longer from one cut to the next.
        const started = await start('10m');
        const { running, at, nats, postgres } = started;
        for (let round = 0; round < ROUNDS; round++) {
          for (let i = 0; i < CUTS; i++) await cut(started, [nats], alone);
          const last = await cut(started, [nats, postgres], together);
          const ms = await untilArrived(running, last, HEALED_WITHIN_MS);
          for (const row of rows) recovered(row, ms);
        }
        const [ofAlone, ofTogether, ...ofLost] = rows;
        if (ofAlone !== undefined) ofAlone.fired = alone.fired;
        if (ofTogether !== undefined) ofTogether.fired = together.fired;
        for (const some of [...alone.inIt, ...together.inIt]) {
          const row = ofLost[inIt.indexOf(some.route)];
          if (row !== undefined) row.fired += await sentAgain(running, some);
        }
        const broken = await at.finish();
        for (const { violations } of rows) violations.push(...broken);
        // What makes it a proof: the broker did lose something.
        expect(alone.lostByBroker).toBeGreaterThan(0);
      });
    });

    test('with sync_interval always: not even the broker loses anything', async () => {
      const cuts = noCuts();
      const name = () => `NATS with sync_interval always loses its power: ${said(cuts)}`;
      await expectHarmless(GROUP, name, async (found) => {
        const started = await start('always');
        for (let i = 0; i < ROUNDS * CUTS; i++) {
          const when = await cut(started, [started.nats], cuts);
          recovered(found, await untilArrived(started.running, when, HEALED_WITHIN_MS));
        }
        found.fired = cuts.fired;
        found.violations.push(...(await started.at.finish()));
        expect(cuts.lostByBroker).toBe(0);
      });
    });
  });
}
