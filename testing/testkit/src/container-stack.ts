import { fileURLToPath } from 'node:url';
import { freePort } from '@quittance/engines/free-port';
import { busUrl, PROVISIONER } from '@quittance/shared/bus-connection';
import { busConfiguration } from '@quittance/shared/bus-permissions';
import { type Service, services } from '@quittance/shared/events';
import { reason } from '@quittance/shared/logger';
import { untilAddresses } from '@quittance/stack/addresses';
import {
  BITCOIN_PORT,
  bitcoinUrl,
  chainContainerSettings,
  ETHEREUM_PORT,
} from '@quittance/stack/chain-container';
import { allOrNone } from '@quittance/stack/chain-nodes';
import {
  assertDockerEngine,
  buildMissingImages,
  imageOf,
  natsImage,
  postgresImage,
  redisImage,
} from '@quittance/stack/container-images';
import { DEFAULT_PORT, portsFrom } from '@quittance/stack/ports';
import { newSecrets, type Secrets } from '@quittance/stack/secrets';
import { serviceSettings } from '@quittance/stack/service-settings';
import { testUsdcAddress } from '@quittance/stack/test-usdc';
import { PostgreSqlContainer } from '@testcontainers/postgresql';
import { RedisContainer } from '@testcontainers/redis';
import {
  GenericContainer,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { testSettings } from './quittance.ts';
import type { StartedStack, StartOptions } from './started-stack.ts';

/*
 * The whole of Quittance as containers on a network of its own, as docker-compose.yml has it: a database with a role for
 * each service, a bus with a user for each, Redis, the nodes of Ethereum and Bitcoin, and the services. Loaded only when
 * that is asked for.
 */

const USER = 'quittance';
const DATABASE = 'quittance';
/** The name of the chains' nodes, which are in one container. */
const CHAINS = 'chains';
const POSTGRES_PORT = 5432;
const NATS_URL = 'nats://nats:4222';
const NATS_CONFIG = '/etc/quittance/nats-server.conf';
const NATS_PORT = 4222;
const PRICES = {
  source: fileURLToPath(new URL('../../../deploy/prices/sandbox.json', import.meta.url)),
  target: '/prices/sandbox.json',
};
/** The name that Docker itself resolves to the machine that it runs on, where it is asked to. */
const THIS_MACHINE = 'host.docker.internal';
const PORTS = portsFrom(DEFAULT_PORT);
/** Long: a machine that is busy is slow to start containers. */
const READY_WITHIN_MS = 180_000;
/** A service drains within ten seconds. */
const STOP_WITHIN_MS = 12_000;

/** What a container that does not come up has said last is told with its failure. */
const SAID_LINES_KEPT = 10;

type Started = Exclude<Service, 'auditor'>;
const toStart = services.filter((service): service is Started => service !== 'auditor');

/** Starts a container on the stack's network, under a name by which the others know it. */
type Start = <C extends GenericContainer>(
  name: string,
  container: C,
) => Promise<Awaited<ReturnType<C['start']>>>;

export async function startContainerStack(wanted: StartOptions): Promise<StartedStack> {
  if (wanted.chains?.includes('solana') === true)
    throw new Error("engines: 'containers' has no node of Solana; engines: 'embedded' has");
  await assertDockerEngine();
  await buildMissingImages(['cli', 'sandbox', ...toStart], wanted.say);
  const network = await new Network().start();
  const engines: StartedTestContainer[] = [];
  const users: StartedTestContainer[] = [];
  const stop = async () => {
    // The services first, then what they stand on.
    const failed: unknown[] = [];
    for (const group of [users, engines]) {
      const stopped = group.splice(0).map((container) => container.stop({ timeout: STOP_WITHIN_MS }));
      for (const end of await Promise.allSettled(stopped)) {
        if (end.status === 'rejected') failed.push(end.reason);
      }
    }
    await network.stop();
    if (failed.length > 0) throw new AggregateError(failed, 'not every container could be stopped');
  };
  try {
    const secrets = newSecrets();
    const port = await freePort();
    const found = await startEngines(startOn(network, engines), secrets, wanted);
    wanted.say('Postgres, NATS, Redis and the nodes are up');
    const url = `http://${found.host}:${port}`;
    const settings = await startServices(startOn(network, users), secrets, url, port, wanted);
    await untilAddresses(found.adminUrl, settings.invoices);
    wanted.say(`the services are up: ${url}`);
    return { url, adminUrl: found.adminUrl, nodes: found.nodes, hostSeenFromServices: THIS_MACHINE, stop };
  } catch (error) {
    // What kept it from starting is what matters.
    await stop().catch((left: unknown) => wanted.say(reason(left)));
    throw error;
  }
}

function startOn(network: StartedNetwork, started: StartedTestContainer[]): Start {
  const start = async (name: string, container: GenericContainer): Promise<StartedTestContainer> => {
    const said: string[] = [];
    container
      .withNetwork(network)
      .withNetworkAliases(name)
      .withStartupTimeout(READY_WITHIN_MS)
      .withLogConsumer((stream) => {
        stream.on('data', (line) => {
          said.push(String(line).trimEnd());
          if (said.length > SAID_LINES_KEPT) said.shift();
        });
      });
    try {
      const running = await container.start();
      started.push(running);
      return running;
    } catch (cause) {
      throw new Error(`the container of ${name} did not come up: ${reason(cause)}\n${said.join('\n')}`, {
        cause,
      });
    }
  };
  // A module's container starts as what it says: an official Postgres as one that knows its URL.
  return start as Start;
}

/** Postgres with the tables and roles, NATS with its users, Redis, and the nodes with full faucets. */
async function startEngines(start: Start, secrets: Secrets, wanted: StartOptions) {
  const [database, , , chains] = await allOrNone([
    startPostgres(start, secrets),
    start('nats', nats(secrets)),
    start('redis', new RedisContainer(redisImage())),
    start(
      CHAINS,
      new GenericContainer(imageOf('sandbox'))
        .withCommand(['chains'])
        .withEnvironment({ WALLET_SEED: secrets.walletSeed, BLOCK_SECONDS: String(wanted.blockEverySeconds) })
        .withExposedPorts(ETHEREUM_PORT, BITCOIN_PORT)
        .withWaitStrategy(Wait.forLogMessage(/the nodes are ready/)),
    ),
  ]);
  const host = chains.getHost() === 'localhost' ? '127.0.0.1' : chains.getHost();
  const rpc = `http://${host}:${chains.getMappedPort(ETHEREUM_PORT)}`;
  const bitcoin = { rpc: bitcoinUrl(secrets.walletSeed, host, chains.getMappedPort(BITCOIN_PORT)) };
  return {
    host,
    adminUrl: database.getConnectionUri(),
    nodes: {
      ethereum: { rpc, tokens: { USDC_ERC20: testUsdcAddress() } },
      ...(hasBitcoin(wanted) ? { bitcoin } : {}),
    },
  };
}

async function startPostgres(start: Start, secrets: Secrets) {
  const hasty = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200'];
  const database = await start(
    'postgres',
    new PostgreSqlContainer(postgresImage())
      .withUsername(USER)
      .withPassword(secrets.databasePassword)
      .withDatabase(DATABASE)
      .withCommand(['postgres', ...hasty.flatMap((setting) => ['-c', setting])]),
  );
  const passwords = [...services, 'operator'].map((role) => [
    `${role.toUpperCase()}_DATABASE_PASSWORD`,
    secrets.databasePassword,
  ]);
  await start(
    'migrate',
    new GenericContainer(imageOf('cli'))
      .withCommand(['migrate'])
      .withEnvironment({ DATABASE_URL_ADMIN: adminUrlInside(secrets), ...Object.fromEntries(passwords) })
      .withWaitStrategy(Wait.forOneShotStartup()),
  );
  return database;
}

const adminUrlInside = ({ databasePassword }: Secrets): string =>
  `postgres://${USER}:${databasePassword}@postgres:${POSTGRES_PORT}/${DATABASE}`;

/** Not the NATS module: it gives nats-server a user on its command line, which the accounts of the configuration forbid. */
function nats({ busPasswords }: Secrets): GenericContainer {
  const accounts = busConfiguration((user) => JSON.stringify(busPasswords[user]));
  return new GenericContainer(natsImage())
    .withCommand(['--config', NATS_CONFIG])
    .withExposedPorts(NATS_PORT)
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .withCopyContentToContainer([
      {
        content: `${accounts}\nlisten: "0.0.0.0:${NATS_PORT}"\njetstream { store_dir: "/data" }\n`,
        target: NATS_CONFIG,
      },
    ]);
}

async function startServices(
  start: Start,
  secrets: Secrets,
  url: string,
  port: number,
  wanted: StartOptions,
) {
  const settings = settingsOf(secrets, url, wanted);
  const provisioner = new GenericContainer(imageOf('cli'))
    .withCommand(['nats', 'provision', '--watch'])
    .withEnvironment({ NATS_URL: busUrl(NATS_URL, PROVISIONER, secrets.busPasswords[PROVISIONER]) })
    .withWaitStrategy(Wait.forListeningPorts());
  await allOrNone([
    start('nats-provision', provisioner),
    ...toStart.map((service) => {
      const container = new GenericContainer(imageOf(service))
        .withEnvironment(settings[service])
        .withCopyFilesToContainer(service === 'ledger' ? [PRICES] : [])
        .withExtraHosts([{ host: THIS_MACHINE, ipAddress: 'host-gateway' }])
        .withExposedPorts(service === 'gateway' ? { container: PORTS[service], host: port } : PORTS[service])
        .withWaitStrategy(Wait.forHttp('/readyz', PORTS[service], { abortOnContainerExit: true }));
      return start(service, container);
    }),
  ]);
  return settings;
}

const hasBitcoin = ({ chains }: StartOptions): boolean => chains === undefined || chains.includes('bitcoin');

/** As the sandbox has them, but that each service is a machine of its own. */
function settingsOf(
  secrets: Secrets,
  url: string,
  wanted: StartOptions,
): Record<Service, Record<string, string>> {
  const chains = chainContainerSettings(secrets.walletSeed, CHAINS, { bitcoin: hasBitcoin(wanted) });
  const settings = serviceSettings({
    ports: PORTS,
    secrets,
    publicUrl: url,
    adminUrl: adminUrlInside(secrets),
    busUrl: (service) => busUrl(NATS_URL, service, secrets.busPasswords[service]),
    redisUrl: 'redis://redis:6379',
    pricesFile: PRICES.target,
    chains,
    began: new Date(),
  });
  const own = testSettings({ settings: wanted.settings });
  for (const service of services) Object.assign(settings[service], { HOST: '0.0.0.0' }, own[service]);
  for (const service of toStart.filter((other) => other !== 'gateway'))
    settings.gateway[`${service.toUpperCase()}_URL`] = `http://${service}:${PORTS[service]}`;
  settings.ledger['MIN_CONFIRMATIONS'] ??= chains.assets
    .map((asset) => `${asset}=${wanted.confirmations}`)
    .join(',');
  return settings;
}
