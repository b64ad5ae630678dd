import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type AnvilHandle, startAnvil } from '@quittance/engines/anvil';
import { assertPortsFree } from '@quittance/engines/free-port';
import { type NatsHandle, startNats } from '@quittance/engines/nats';
import { type PostgresHandle, startPostgres } from '@quittance/engines/postgres';
import type { Engine } from '@quittance/engines/process';
import { type RedisHandle, startRedis } from '@quittance/engines/redis';
import { type Service, services } from '@quittance/shared/events';
import { migrateAll } from 'quittance/migrate-all';
import { ensureDatabase } from './database.ts';
import { CHAIN_ID, ethereumFacts, prepareEthereum } from './ethereum.ts';
import { type Ports, portsFrom } from './ports.ts';
import { pricesFile } from './prices.ts';
import { type Secrets, sandboxSecrets } from './secrets.ts';
import { startServiceProcess } from './service-process.ts';
import { serviceSettings } from './service-settings.ts';

/** Balances of so many past blocks can be asked for; each costs the node memory and its file space. */
const PAST_STATES = 64;
/** `finalized` is two epochs behind the head: well within the past that can be asked for. */
const SLOTS_IN_AN_EPOCH = 4;

export type StackOptions = {
  /** Where its data, its secrets and its logs live. */
  dir: string;
  basePort: number;
  /** Throws away what an earlier run left in `dir`. */
  fresh?: boolean;
  /** Seconds between blocks; without it a block comes only when one is asked for. */
  blockTimeSeconds?: number;
  /** Starts a Redis for the gateway's limits. */
  redis?: boolean;
  /** More or other settings for a service. */
  settings?: Partial<Record<Service, Record<string, string>>>;
  /** Postgres' own settings, such as `fsync: 'off'` where only speed counts. */
  postgresSettings?: Record<string, string>;
  /** Called between the migrations and the start of the services. */
  beforeServices?: (adminUrl: string) => Promise<void>;
  /** Told of each thing that is up, and of each that ended though nobody stopped it. */
  say?: (line: string) => void;
};

export type Stack = {
  url: string;
  ports: Ports;
  secrets: Secrets;
  /** A superuser's URL of the stack's database. */
  adminUrl: string;
  pricesFile: string;
  usdc: string;
  engines: {
    postgres: PostgresHandle;
    nats: NatsHandle;
    ethereum: AnvilHandle;
    redis: RedisHandle | undefined;
  };
  services: Record<Service, Engine>;
  /** What a service is started with, also the next time: a test may change it before a restart. */
  settingsOf(service: Service): Record<string, string>;
  stop(): Promise<void>;
};

const DATABASE = 'quittance';

/**
 * Starts everything Quittance needs on this machine: Postgres, NATS, an Ethereum node and the five
 * services, each a process of its own. When a part does not come up, those before it are stopped.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { dir, basePort, say = () => undefined } = options;
  const ports = portsFrom(basePort);
  await assertPortsFree(
    Object.entries(ports)
      .filter(([what]) => what !== 'redis' || options.redis === true)
      .map(([what, port]) => ({ port, what })),
  );
  if (options.fresh === true) rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });

  const started: Engine[] = [];
  const stop = async () => {
    // Services first, then what they stand on: the reverse of the order of the start.
    const running = started.splice(0).reverse();
    const [atOnce, inOrder] = [running.slice(0, -3), running.slice(-3)];
    await Promise.all(atOnce.map((engine) => engine.stop()));
    for (const engine of inOrder) await engine.stop();
  };
  const keep = <E extends Engine>(engine: E): E => {
    started.push(engine);
    return engine;
  };
  const onUnexpectedExit = (error: Error) => say(error.message);

  try {
    const postgres = keep(
      await startPostgres({
        dataDir: join(dir, 'postgres'),
        port: ports.postgres,
        fresh: options.fresh === true,
        settings: options.postgresSettings,
        onUnexpectedExit,
      }),
    );
    const nats = keep(await startNats({ dataDir: join(dir, 'nats'), port: ports.nats, onUnexpectedExit }));
    const ethereum = keep(
      await startAnvil({
        port: ports.ethereum,
        chainId: CHAIN_ID,
        statePath: join(dir, 'ethereum.json'),
        pastStates: PAST_STATES,
        slotsInAnEpoch: SLOTS_IN_AN_EPOCH,
        stateEverySeconds: 30,
        blockTimeSeconds: options.blockTimeSeconds,
        mining: options.blockTimeSeconds === undefined ? 'manual' : undefined,
        onUnexpectedExit,
      }),
    );
    const redis =
      options.redis === true ? keep(await startRedis({ port: ports.redis, onUnexpectedExit })) : undefined;
    say(`engines are up: Postgres ${ports.postgres}, NATS ${ports.nats}, Ethereum (anvil) ${ports.ethereum}`);

    const secrets = sandboxSecrets(dir);
    const adminUrl = await ensureDatabase(postgres.url, DATABASE);
    await migrateAll({ adminUrl, passwordOf: () => secrets.databasePassword });
    await options.beforeServices?.(adminUrl);
    const facts = ethereumFacts(secrets.walletSeed);
    const usdc = await prepareEthereum(ethereum.rpcUrl, facts.hotAddress);
    const prices = pricesFile(dir);
    const url = `http://127.0.0.1:${ports.gateway}`;
    const settings = serviceSettings({
      ports,
      secrets,
      publicUrl: url,
      adminUrl,
      natsUrl: nats.url,
      redisUrl: redis?.url,
      pricesFile: prices,
      ethereum: { rpcUrl: ethereum.rpcUrl, chainId: CHAIN_ID, usdc, xpub: facts.xpub },
    });
    for (const service of services) Object.assign(settings[service], options.settings?.[service]);
    const settingsOf = (service: Service) => settings[service];
    const running = await Promise.all(
      services.map(async (service) => {
        const env = settingsOf(service);
        const logDir = join(dir, 'logs');
        const engine = await startServiceProcess({
          service,
          port: ports[service],
          env,
          logDir,
          onUnexpectedExit,
        });
        return [service, keep(engine)] as const;
      }),
    );
    say(`services are up: ${services.map((service) => `${service} ${ports[service]}`).join(', ')}`);
    return {
      url,
      ports,
      secrets,
      adminUrl,
      pricesFile: prices,
      usdc,
      engines: { postgres, nats, ethereum, redis },
      services: Object.fromEntries(running) as Record<Service, Engine>,
      settingsOf,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
