import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { assertPortsFree } from '@quittance/engines/free-port';
import { type NatsHandle, startNats } from '@quittance/engines/nats';
import { type PostgresHandle, startPostgres } from '@quittance/engines/postgres';
import type { Engine } from '@quittance/engines/process';
import { type RedisHandle, startRedis } from '@quittance/engines/redis';
import { type Service, services } from '@quittance/shared/events';
import { migrateAll } from 'quittance/migrate-all';
import {
  allOrNone,
  type ChainNodes,
  type OptionalChain,
  optionalChains,
  type Pace,
  prepareChains,
  startChainNodes,
} from './chain-nodes.ts';
import { ensureDatabase } from './database.ts';
import type { Nodes } from './faucet.ts';
import { type Ports, portsFrom } from './ports.ts';
import { pricesFile } from './prices.ts';
import { type Secrets, sandboxSecrets } from './secrets.ts';
import { startServiceProcess } from './service-process.ts';
import { serviceSettings } from './service-settings.ts';
import { untilSolanaAddresses } from './solana-addresses.ts';
import { forgetSolanaChain } from './solana-restart.ts';

export type StackOptions = {
  /** Where its data, its secrets and its logs live. */
  dir: string;
  basePort: number;
  pace: Pace;
  /** Which chains beside Ethereum have a node; all when not given. */
  chains?: readonly OptionalChain[];
  /** Throws away what an earlier run left in `dir`. */
  fresh?: boolean;
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
  /** What a faucet needs to know of each chain's node. */
  nodes: Nodes;
  /** The settings of the chains, as an operator gives them to who asks the nodes. */
  chainSettings: Record<string, string>;
  /** When this start of it began: Solana's chain, and nothing before it, is as old as that. */
  began: Date;
  engines: ChainNodes & {
    postgres: PostgresHandle;
    nats: NatsHandle;
    redis: RedisHandle | undefined;
  };
  services: Record<Service, Engine>;
  /** What a service is started with, also the next time: a test may change it before a restart. */
  settingsOf(service: Service): Record<string, string>;
  stop(): Promise<void>;
};

const DATABASE = 'quittance';

/**
 * Starts everything Quittance needs on this machine: Postgres, NATS, a node of each chain and the five services,
 * each a process of its own. When a part does not come up, those before it are stopped.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { dir, basePort, pace, chains = optionalChains, say = () => undefined } = options;
  const ports = portsFrom(basePort);
  const began = new Date();
  await assertPortsFree(
    Object.entries(ports)
      .filter(([what]) => what !== 'redis' || options.redis === true)
      .map(([what, port]) => ({ port, what })),
  );
  if (options.fresh === true) rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });

  const engines: Engine[] = [];
  const running: Engine[] = [];
  const stop = async () => {
    // The services first, then what they stand on.
    await Promise.all(running.splice(0).map((service) => service.stop()));
    await Promise.all(engines.splice(0).map((engine) => engine.stop()));
  };
  const keep = <E extends Engine>(engine: E): E => {
    engines.push(engine);
    return engine;
  };
  const onUnexpectedExit = (error: Error) => say(error.message);

  try {
    const secrets = sandboxSecrets(dir);
    const database = startPostgres({
      dataDir: join(dir, 'postgres'),
      port: ports.postgres,
      fresh: options.fresh === true,
      settings: options.postgresSettings,
      onUnexpectedExit,
    }).then(async (server) => {
      const postgres = keep(server);
      const adminUrl = await ensureDatabase(postgres.url, DATABASE);
      await migrateAll({ adminUrl, passwordOf: () => secrets.databasePassword });
      await options.beforeServices?.(adminUrl);
      return { postgres, adminUrl, solanaReserves: await forgetSolanaChain(adminUrl) };
    });
    const reserves = database.then(({ solanaReserves }) => solanaReserves);
    const [{ postgres, adminUrl }, nats, redis, { chainNodes, nodes, chainSettings }] = await allOrNone([
      database,
      startNats({ dataDir: join(dir, 'nats'), port: ports.nats, onUnexpectedExit }).then(keep),
      options.redis === true
        ? startRedis({ port: ports.redis, onUnexpectedExit }).then(keep)
        : Promise.resolve(undefined),
      startChainNodes({ dir, ports, pace, chains, keep, onUnexpectedExit, say }).then(async (started) => ({
        chainNodes: started,
        ...(await prepareChains(started, secrets.walletSeed, reserves)),
      })),
    ]);
    say(`engines are up: Postgres ${ports.postgres}, NATS ${ports.nats}${portsOf(chainNodes, ports)}`);
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
      chains: chainSettings,
    });
    for (const service of services) Object.assign(settings[service], options.settings?.[service]);
    const settingsOf = (service: Service) => settings[service];
    const started = await allOrNone(
      services.map(async (service) => {
        const engine = await startServiceProcess({
          service,
          port: ports[service],
          env: settingsOf(service),
          logDir: join(dir, 'logs'),
          onUnexpectedExit,
        });
        running.push(engine);
        return [service, engine] as const;
      }),
    );
    if (nodes.solana !== undefined) await untilSolanaAddresses(adminUrl);
    say(`services are up: ${services.map((service) => `${service} ${ports[service]}`).join(', ')}`);
    return {
      url,
      ports,
      secrets,
      adminUrl,
      pricesFile: prices,
      nodes,
      chainSettings: chainSettings.node,
      began,
      engines: { postgres, nats, redis, ...chainNodes },
      services: Object.fromEntries(started) as Record<Service, Engine>,
      settingsOf,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function portsOf({ bitcoin, solana }: ChainNodes, ports: Ports): string {
  return [
    `, Ethereum (anvil) ${ports.ethereum}`,
    bitcoin === undefined ? '' : `, Bitcoin (Core) ${ports.bitcoin}`,
    solana === undefined ? '' : `, Solana (surfpool) ${ports.solana}`,
  ].join('');
}
