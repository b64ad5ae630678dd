import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnvilHandle, type AnvilOptions, startAnvil } from '@quittance/engines/anvil';
import { type BitcoindHandle, startBitcoind } from '@quittance/engines/bitcoind';
import type { NatsHandle } from '@quittance/engines/nats';
import type { RedisHandle } from '@quittance/engines/redis';
import { checkInvariants } from '@quittance/reconciliation/check-invariants';
import { invariants } from '@quittance/reconciliation/invariants';
import { snapshotOf } from '@quittance/reconciliation/snapshot';
import { startProvisioner } from '@quittance/shared/bus-setup';
import { asAdmin, closeDatabases, grantConnect, roleOf } from '@quittance/shared/database-roles';
import { openDb } from '@quittance/shared/db';
import { type Service, services } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import { serviceUrl } from '@quittance/shared/migrate';
import { suiteEngines } from '@quittance/stack/engine-source';
import { databaseUrl, onServer, TEMPLATE, TEST_PASSWORD } from './databases.ts';

const SNAPSHOT_MAX_MS = 60_000;

export type TestDatabase = {
  /** A superuser's URL of this database. */
  adminUrl: string;
  /** The URL a service connects with: its own role. */
  urlOf(service: Service): string;
  /** Throws when an invariant of a service is violated after its tests. */
  drop(): Promise<void>;
};

/** A database of its own for one suite, all services migrated: a copy of the template that the set-up made. */
export async function testDatabase(): Promise<TestDatabase> {
  const server = process.env['TEST_POSTGRES_URL'];
  if (server === undefined)
    throw new Error('no TEST_POSTGRES_URL: run this suite through jest’s global set-up');
  const name = `t_${randomBytes(8).toString('hex')}`;
  await onServer(server, `create database ${name} template ${TEMPLATE} strategy file_copy`);
  const adminUrl = databaseUrl(server, name);
  // Who may connect is of the database, and not copied with what is in it.
  await asAdmin(adminUrl, async (client) => {
    for (const service of [...services, 'operator']) await grantConnect(client, roleOf(service));
    await closeDatabases(client);
  });
  return {
    adminUrl,
    urlOf: (service) => serviceUrl(adminUrl, service, TEST_PASSWORD),
    async drop() {
      const discrepancies = await discrepanciesOf(adminUrl);
      await onServer(server, `drop database if exists ${name} with (force)`);
      if (discrepancies.length > 0)
        throw new Error(
          `the books do not balance: ${discrepancies.map(({ invariant, what }) => `${invariant} ${what}`).join('; ')}`,
        );
    },
  };
}

/**
 * What a suite's records get wrong within each service. The check of reconciliation would load the libraries of all chains into
 * suites that have none.
 */
async function discrepanciesOf(url: string) {
  const db = openDb({
    url,
    schema: 'public',
    pool: 1,
    logger: createLogger('books', 'error'),
    answerWithinMs: SNAPSHOT_MAX_MS,
  });
  const ofOneService = invariants.filter(({ alone }) => alone === true);
  try {
    return await checkInvariants(snapshotOf(db, SNAPSHOT_MAX_MS), ofOneService, { gracePeriodSeconds: 0 });
  } finally {
    await db.close();
  }
}

/**
 * A nats-server with JetStream of this suite's own, with stream, durables and buckets as in production, made again when
 * its data is lost. It knows no users: everybody may do everything.
 */
export async function testNats(): Promise<NatsHandle & { dataDir: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quittance-nats-'));
  const nats = await (await suiteEngines()).nats({ dataDir, port: 0 });
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const startBusProvisioner = () =>
    startProvisioner({ url: nats.url, logger: createLogger('provisioner', 'silent') });
  let provisioner = startBusProvisioner();
  await provisioner.made;
  const { stop, restart } = nats;
  return Object.assign(nats, {
    dataDir,
    async stop() {
      await provisioner.stop();
      await stop();
    },
    async restart() {
      await provisioner.stop();
      await restart();
      provisioner = startBusProvisioner();
      await provisioner.made;
    },
  });
}

/** A redis-server of this suite's own. */
export async function testRedis(): Promise<RedisHandle> {
  return await (await suiteEngines()).redis({ port: 0 });
}

/** An Ethereum node of this suite's own; it mines when told to. */
export const testAnvil = (options: Partial<AnvilOptions> = {}): Promise<AnvilHandle> =>
  startAnvil({ port: 0, mining: 'manual', ...options });

/**
 * A Bitcoin node of this suite's own; it mines when told to. Its faucet does not wait for the disk: only a power cut could lose
 * what it wrote.
 */
export async function testBitcoind(flags: readonly string[] = []): Promise<BitcoindHandle> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quittance-bitcoin-'));
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  return await startBitcoind({ dataDir, port: 0, flags: ['-unsafesqlitesync', ...flags] });
}
