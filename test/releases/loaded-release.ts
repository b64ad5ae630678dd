import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@quittance/engines/free-port';
import { type Db, openDb } from '@quittance/shared/db';
import { newGatewayKeys } from '@quittance/shared/gateway-keys';
import { createLogger } from '@quittance/shared/logger';
import { type Migrated, migrateAll } from '@quittance/shared/migrate-all';
import { listeningServices, type Ports } from '@quittance/stack/ports';
import { pricesFile } from '@quittance/stack/prices';
import { sandboxSecrets } from '@quittance/stack/secrets';
import { startServicesTogether } from '@quittance/stack/service-process';
import { serviceSettings } from '@quittance/stack/service-settings';
import { databaseUrl, onServer, TEST_CONNECTIONS_MAX, TEST_PASSWORD } from '@quittance/testkit/databases';
import { movedTimes } from '../e2e/upgrade/moved-times.ts';
import type { Dump } from './stored-release.ts';

/** Where nobody listens: no service has a node of a chain. */
const NO_NODE = 'http://127.0.0.1:1';
/** The auditor and the signer answer no merchant. */
const started = listeningServices.filter((service) => service !== 'auditor');

export type LoadedRelease = {
  adminUrl: string;
  /** A superuser's. */
  db: Db;
  migrate(): Promise<Migrated[]>;
  /** Starts today's services on it, which send its events to `hook`. @returns the gateway's URL */
  start(natsUrl: string, hook: string): Promise<string>;
  stop(): Promise<void>;
  drop(): Promise<void>;
};

/** A database of its own with what a release has left. */
export async function loadRelease({ sql, stored }: Dump): Promise<LoadedRelease> {
  const server = process.env['TEST_POSTGRES_URL'];
  if (server === undefined) throw new Error('no TEST_POSTGRES_URL');
  const name = `t_${randomBytes(8).toString('hex')}`;
  await onServer(server, `create database ${name}`);
  const adminUrl = databaseUrl(server, name);
  await onServer(adminUrl, sql);
  await onServer(adminUrl, movedTimes(stored.stoppedAt));
  const db = openDb({ url: adminUrl, schema: 'pg_catalog', pool: 2, logger: createLogger('test', 'silent') });
  const dir = mkdtempSync(join(tmpdir(), 'quittance-release-'));
  let running: { stop(): Promise<void> } | undefined;
  return {
    adminUrl,
    db,
    migrate: () =>
      migrateAll({
        adminUrl,
        passwordOf: () => TEST_PASSWORD,
        operatorPassword: TEST_PASSWORD,
        connectionsMax: TEST_CONNECTIONS_MAX,
      }),
    async start(natsUrl, hook) {
      await db.rows('update webhooks.endpoints set url = $1', [hook]);
      const ports = Object.fromEntries(
        await Promise.all(listeningServices.map(async (service) => [service, await freePort()] as const)),
      ) as Ports;
      const url = `http://127.0.0.1:${ports.gateway}`;
      const { address } = await db.one<{ address: string }>(
        `select address from payouts.wallets where chain = 'ethereum' and role = 'hot'`,
      );
      const settings = serviceSettings({
        ports,
        secrets: {
          ...sandboxSecrets(dir),
          gatewayPrivateKey: newGatewayKeys().privateKey,
          webhookSecretsKey: stored.webhookSecretsKey,
          databasePassword: TEST_PASSWORD,
        },
        publicUrl: url,
        adminUrl,
        busUrl: () => natsUrl,
        redisUrl: undefined,
        pricesFile: pricesFile(dir),
        mailFolder: join(dir, 'mails'),
        chains: {
          node: {},
          addresses: {},
          // Payouts refuses to start without a chain.
          hotWallets: {
            ETHEREUM_RPC_URL: NO_NODE,
            ETHEREUM_CHAIN_ID: '31337',
            ETHEREUM_HOT_ADDRESS: address,
          },
          assets: ['ETH', 'BTC'],
        },
        began: new Date(),
      });
      const together = started.map((service) => ({
        service,
        port: ports[service],
        env: settings[service],
      }));
      running = await startServicesTogether({
        together,
        logDir: join(dir, 'logs'),
        onUnexpectedExit: () => undefined,
      });
      return url;
    },
    stop: async () => void (await running?.stop()),
    async drop() {
      await running?.stop();
      await db.close();
      await onServer(server, `drop database ${name} with (force)`);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
