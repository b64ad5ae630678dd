import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { startPostgres } from '@quittance/engines/postgres';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import pg from 'pg';
import { cutPower, type DiskImage, openDiskImage, whyNoDisks } from './disk-image.ts';
import { expectHarmless, faultsNotTried, recovered } from './expect-harmless.ts';
import { type Load, startLoad } from './load.ts';
import { sized } from './size.ts';

/**
 * Postgres loses its power under load and starts on what was on its disk: what was acknowledged is there. That such a
 * cut does take something away is shown by a Postgres that acknowledges before it writes.
 */
const GROUP = 'power';
const FAULT = 'Postgres loses its power';
const CUTS = sized(2, 20);
/** A service has its connections back within this. */
const RECONNECT_WITHIN_MS = 5_000;
const SLACK_MS = 2_000;

jest.setTimeout(patient(CUTS * 30_000 + 120_000));

const why = await whyNoDisks();
if (why !== undefined) {
  faultsNotTried(GROUP, [FAULT], why);
} else {
  describe('a Postgres that does not wait for its disk', () => {
    let disk: DiskImage;
    beforeAll(async () => {
      disk = await openDiskImage('hasty');
    });
    afterAll(() => disk?.close());

    test('loses what it has acknowledged', async () => {
      const hasty = { synchronous_commit: 'off', wal_writer_delay: '10s' };
      const postgres = await startPostgres({ dataDir: `${disk.folder}/postgres`, port: 0, settings: hasty });
      try {
        const count = (sql: string) => onServer(postgres.url, sql);
        await count('create table told (n int)');
        await count('checkpoint');
        for (let n = 0; n < 50; n++) await count(`insert into told values (${n})`);
        const cut = await cutPower([{ engine: postgres, disk }]);
        await postgres.restart();
        const { n } = await count('select count(*)::int as n from told');
        expect(n).toBeLessThan(50);
        expect(cut).toEqual({ lostUnsynced: true, keptSynced: true });
      } finally {
        await postgres.stop();
      }
    });
  });

  describe('Postgres as it is in production', () => {
    let disk: DiskImage;
    let quittance: Quittance;
    let load: Load;
    beforeAll(async () => {
      disk = await openDiskImage('postgres');
      quittance = await startQuittance({
        chains: [],
        fixedFees: true,
        durable: true,
        quiet: true,
        // Checkpoints come often enough for cuts to meet them.
        postgresSettings: { max_wal_size: '64MB', min_wal_size: '32MB', checkpoint_timeout: '30s' },
        engineDirs: { postgres: `${disk.folder}/postgres` },
      });
      load = await startLoad(quittance);
    });
    afterAll(async () => {
      try {
        await load?.abandon();
        await quittance?.stop();
      } finally {
        await disk?.close();
      }
    });

    test(`its power is cut ${CUTS} times: everything acknowledged is there, the services come back`, async () => {
      const { stack } = quittance;
      expect(stack.engines.postgres.dataDir).toBe(`${disk.folder}/postgres`);
      const name = () => `${FAULT} (${load.counts().accepted} payouts acknowledged)`;
      const pids = Object.values(stack.services).map(({ pid }) => pid);
      await expectHarmless(GROUP, name, async (found) => {
        for (let i = 0; i < CUTS; i++) {
          await load.nextAccepted(RECONNECT_WITHIN_MS);
          // At another moment of the load each time.
          await sleep(700 + ((i * 377) % 1_000));
          const { lostUnsynced, keptSynced } = await cutPower([{ engine: stack.engines.postgres, disk }]);
          expect(keptSynced).toBe(true);
          // The file system forgot what was not synced: it was a cut, and not an orderly end.
          found.fired += lostUnsynced ? 1 : 0;
          await stack.engines.postgres.restart();
          const began = performance.now();
          await load.nextAccepted(RECONNECT_WITHIN_MS + SLACK_MS);
          const ms = performance.now() - began;
          recovered(found, ms);
          if (ms > patient(RECONNECT_WITHIN_MS)) found.violations.push(`all were back after ${ms} ms`);
          await allReady(Object.values(stack.ports).slice(0, pids.length));
        }
        const { accepted } = load.counts();
        found.violations.push(...(await load.finish()));
        expect(accepted).toBeGreaterThan(CUTS * 5);
        expect(Object.values(stack.services).map(({ pid }) => pid)).toEqual(pids);
      });
    });
  });
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

const allReady = (ports: readonly number[]): Promise<void> =>
  eventually(async () => {
    for (const port of ports) {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
      if (!answer.ok) throw new Error(`${port} is not ready: ${await answer.text()}`);
    }
  }, RECONNECT_WITHIN_MS + SLACK_MS);
