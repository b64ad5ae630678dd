import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { assertPortsFree } from '@quittance/engines/free-port';
import type { NatsHandle } from '@quittance/engines/nats';
import type { PostgresHandle } from '@quittance/engines/postgres';
import type { Engine } from '@quittance/engines/process';
import type { RedisHandle } from '@quittance/engines/redis';
import { type BusUser, busUrl, PROVISIONER } from '@quittance/shared/bus-connection';
import { ADMIN, busConfiguration } from '@quittance/shared/bus-permissions';
import type { Provisioner } from '@quittance/shared/bus-setup';
import { type Service, services } from '@quittance/shared/events';
import { migrateAll } from '@quittance/shared/migrate-all';
import { untilAddresses } from './addresses.ts';
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
import { migratedCluster } from './migrated-cluster.ts';
import { type Parts, processes } from './parts.ts';
import { type Ports, portsFrom } from './ports.ts';
import { pricesFile } from './prices.ts';
import { startNatsProvisioner } from './provisioner.ts';
import { type Secrets, sandboxSecrets } from './secrets.ts';
import { serviceSettings } from './service-settings.ts';
import { firstSolanaSlot } from './solana.ts';
import { forgetSolanaChain, outliveSolanaChain } from './solana-restart.ts';

export type StackOptions = {
  /** Where its data, its secrets and its logs live. */
  dir: string;
  basePort: number;
  /** By which name its pages are reached; 127.0.0.1 when not given. At `localhost` browsers make passkeys, at an address they do not. */
  publicHost?: string;
  pace: Pace;
  /** How its parts are started; as processes of this machine when not given. */
  parts?: Parts;
  /** Which chains beside Ethereum have a node; all when not given. */
  chains?: readonly OptionalChain[];
  /** Throws away what an earlier run left in `dir`. */
  fresh?: boolean;
  /** Starts a Redis for the gateway's limits. */
  redis?: boolean;
  /** Starts the auditor, which checks the invariants all the time. */
  auditor?: boolean;
  /** Services that share one process: what kills one of them kills all. */
  together?: readonly Service[];
  /** More or other settings for a service. */
  settings?: Partial<Record<Service, Record<string, string>>>;
  /** Postgres' own settings, such as `fsync: 'off'` where only speed counts. */
  postgresSettings?: Record<string, string>;
  /** Folders for the data of engines that shall not lie in `dir`. */
  engineDirs?: { postgres?: string | undefined; nats?: string | undefined };
  /** How soon NATS writes what it has acknowledged; its own default when not given. */
  natsSyncInterval?: string;
  /** On how many nodes each stream is, where `parts` starts a cluster of NATS. */
  streamReplicas?: number;
  /** Adds a NATS user who may do everything, for a test that looks or breaks. */
  busAdmin?: boolean;
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
  /** Where e-mails are written to, each as a file. */
  mailFolder: string;
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
  /** The auditor only where it was asked for. */
  services: Record<Exclude<Service, 'auditor'>, Engine> & { auditor?: Engine };
  /** The URL of a NATS user; `admin` where one was asked for. */
  busUrl(user: BusUser | typeof ADMIN): string;
  /** What a service is started with, also the next time: a test may change it before a restart. */
  settingsOf(service: Service): Record<string, string>;
  stop(): Promise<void>;
};

const DATABASE = 'quittance';

/**
 * Starts everything Quittance needs on this machine: Postgres, NATS, a node of each chain and the services,
 * each a process of its own. When a part does not come up, those before it are stopped.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { dir, basePort, pace, parts = processes, chains = optionalChains, say = () => undefined } = options;
  const ports = portsFrom(basePort);
  const began = new Date();
  await assertPortsFree(
    Object.entries(ports)
      .filter(([what]) => (what !== 'redis' && what !== 'auditor') || options[what] === true)
      .map(([what, port]) => ({ port, what })),
  );
  if (options.fresh === true) rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });

  const engines: Engine[] = [];
  const running: Engine[] = [];
  let provisioner: Provisioner | undefined;
  const stop = async () => {
    // The services first, then what they stand on.
    await Promise.all(running.splice(0).map((service) => service.stop()));
    await provisioner?.stop();
    await Promise.all(engines.splice(0).map((engine) => engine.stop()));
  };
  const keep = <E extends Engine>(engine: E): E => {
    engines.push(engine);
    return engine;
  };
  const onUnexpectedExit = (error: Error) => say(error.message);

  try {
    const secrets = sandboxSecrets(dir);
    const busAdmin = options.busAdmin === true ? randomBytes(24).toString('hex') : undefined;
    const hasty = options.postgresSettings?.['fsync'] === 'off';
    const database = parts
      .postgres({
        dataDir: options.engineDirs?.postgres ?? join(dir, 'postgres'),
        port: ports.postgres,
        fresh: options.fresh === true,
        settings: options.postgresSettings,
        template: hasty ? await migratedCluster(DATABASE) : undefined,
        onUnexpectedExit,
      })
      .then(async (server) => {
        const postgres = keep(server);
        const adminUrl = await ensureDatabase(postgres.url, DATABASE);
        await migrateAll({ adminUrl, passwordOf: () => secrets.databasePassword });
        await options.beforeServices?.(adminUrl);
        return { postgres, adminUrl, solanaReserves: await forgetSolanaChain(adminUrl) };
      });
    const reserves = database.then(({ solanaReserves }) => solanaReserves);
    const [{ postgres, adminUrl }, nats, redis, { chainNodes, nodes, chainSettings }] = await allOrNone([
      database,
      parts
        .nats({
          dataDir: options.engineDirs?.nats ?? join(dir, 'nats'),
          port: ports.nats,
          syncInterval: options.natsSyncInterval,
          config: busConfiguration(
            (user) => JSON.stringify(secrets.busPasswords[user]),
            busAdmin && JSON.stringify(busAdmin),
          ),
          onUnexpectedExit,
        })
        .then(async (server) => {
          const bus = keep(server);
          provisioner = startNatsProvisioner(
            busUrl(bus.url, PROVISIONER, secrets.busPasswords.provisioner),
            join(dir, 'logs'),
            options.streamReplicas,
          );
          await provisioner.made;
          return bus;
        }),
      options.redis === true
        ? parts.redis({ port: ports.redis, onUnexpectedExit }).then(keep)
        : Promise.resolve(undefined),
      startChainNodes({ dir, ports, pace, parts, chains, keep, onUnexpectedExit, say }).then(
        async (started) => ({
          chainNodes: started,
          ...(await prepareChains(started, secrets.walletSeed, reserves)),
        }),
      ),
    ]);
    if (nodes.solana !== undefined) {
      await outliveSolanaChain(adminUrl, await firstSolanaSlot(nodes.solana.rpc));
    }
    say(`engines are up: Postgres ${ports.postgres}, NATS ${ports.nats}${portsOf(chainNodes, ports)}`);
    const prices = pricesFile(dir);
    const mailFolder = join(dir, 'mails');
    const url = `http://${options.publicHost ?? '127.0.0.1'}:${ports.gateway}`;
    const settings = serviceSettings({
      ports,
      secrets,
      publicUrl: url,
      adminUrl,
      busUrl: (service) => busUrl(nats.url, service, secrets.busPasswords[service]),
      redisUrl: redis?.url,
      pricesFile: prices,
      mailFolder,
      chains: chainSettings,
      began,
    });
    for (const service of services) Object.assign(settings[service], options.settings?.[service]);
    const settingsOf = (service: Service) => settings[service];
    const wanted = services.filter((service) => service !== 'auditor' || options.auditor === true);
    const portOf = (service: Service) => (service === 'signer' ? undefined : ports[service]);
    const common = { logDir: join(dir, 'logs'), onUnexpectedExit };
    const optionsOf = (service: Service) => ({
      ...common,
      service,
      port: portOf(service),
      env: settingsOf(service),
    });
    const runs = async (names: readonly Service[], starting: Promise<Engine>) => {
      const engine = await starting;
      running.push(engine);
      return names.map((service) => [service, engine] as const);
    };
    const shared = wanted.filter((service) => options.together?.includes(service));
    const apart = wanted.filter((service) => !shared.includes(service));
    const started = await allOrNone([
      ...apart.map((service) => runs([service], parts.service(optionsOf(service)))),
      ...(shared.length === 0
        ? []
        : [runs(shared, parts.together({ ...common, together: shared.map(optionsOf) }))]),
    ]);
    await untilAddresses(adminUrl, settings.invoices);
    say(
      `services are up: ${wanted.map((service) => `${service} ${portOf(service) ?? ''}`.trim()).join(', ')}`,
    );
    return {
      url,
      ports,
      secrets,
      adminUrl,
      pricesFile: prices,
      mailFolder,
      nodes,
      chainSettings: chainSettings.node,
      began,
      engines: { postgres, nats, redis, ...chainNodes },
      services: Object.fromEntries(started.flat()) as Stack['services'],
      settingsOf,
      busUrl: (user) => {
        const password = user === ADMIN ? busAdmin : secrets.busPasswords[user];
        if (password === undefined) throw new Error(`the bus of this stack knows no ${user}`);
        return busUrl(nats.url, user, password);
      },
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
