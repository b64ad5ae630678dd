import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { withPort } from '@quittance/engines/free-port';
import { natsImage, postgresImage, redisImage } from '@quittance/stack/engine-images';
import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers';

/*
 * The engines of the suites from container images instead of this machine's binaries. Loaded only when that is
 * asked for with TEST_ENGINES=containers: ordinary runs neither pay for testcontainers nor need a Docker engine.
 */

const POSTGRES_PORT = 5432;
const NATS_PORT = 4222;
const REDIS_PORT = 6379;
const STOP_WITHIN_MS = 10_000;
/** Long: a machine that builds images at the same time is slow to start containers. */
const READY_WITHIN_MS = 180_000;
const ASK_EVERY_MS = 500;

/** Like an engine that is a process, but without a pid, and every change of state is a call to Docker. */
type ContainerEngine = {
  readonly url: string;
  readonly port: number;
  /** An orderly end; does nothing when it does not run. */
  stop(): Promise<void>;
  /** SIGKILL: what a crash looks like. */
  kill(): Promise<void>;
  /** A new container on the same port, and on the same data where there is some outside the container. */
  restart(): Promise<void>;
  /** Frozen: the engine hangs, its connections stay open. */
  pause(): Promise<void>;
  resume(): Promise<void>;
};

/** A Postgres for all suites. `settings` are given with -c; the data goes with the container. */
export async function postgresContainer(
  settings: Readonly<Record<string, string | number>>,
): Promise<{ url: string; destroy(): Promise<void> }> {
  const password = randomBytes(24).toString('base64url');
  const container = await new GenericContainer(postgresImage())
    .withEnvironment({
      POSTGRES_PASSWORD: password,
      // Sorting does not depend on the image's libraries.
      POSTGRES_INITDB_ARGS: '--encoding=UTF8 --locale=C',
    })
    .withCommand([
      'postgres',
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ])
    .withExposedPorts(POSTGRES_PORT)
    // Over TCP: the server that only makes the cluster listens to nobody outside.
    .withHealthCheck({
      test: ['CMD', 'pg_isready', '--host=127.0.0.1', '--username=postgres'],
      interval: ASK_EVERY_MS,
      retries: READY_WITHIN_MS / ASK_EVERY_MS,
    })
    .withWaitStrategy(Wait.forHealthCheck())
    .withStartupTimeout(READY_WITHIN_MS)
    .start();
  const address = `${container.getHost()}:${container.getMappedPort(POSTGRES_PORT)}`;
  return {
    url: `postgres://postgres:${password}@${address}/postgres`,
    destroy: async () => {
      await container.stop();
    },
  };
}

/** A nats-server with JetStream on `dataDir`, a folder that the Docker engine must be able to mount. */
export function natsContainer(dataDir: string): Promise<ContainerEngine> {
  const { uid, gid } = userInfo();
  return startContainer('nats', NATS_PORT, () => {
    // Before every start: Docker would make a missing folder root's.
    mkdirSync(dataDir, { recursive: true });
    return new GenericContainer(natsImage())
      .withCommand(['--jetstream', '--store_dir', '/data'])
      .withBindMounts([{ source: dataDir, target: '/data' }])
      .withUser(`${uid}:${gid}`)
      .withWaitStrategy(Wait.forLogMessage(/Server is ready/));
  });
}

/** A redis-server that keeps its data in memory only. */
export function redisContainer(): Promise<ContainerEngine> {
  return startContainer('redis', REDIS_PORT, () =>
    new GenericContainer(redisImage())
      .withCommand(['redis-server', '--save', '', '--appendonly', 'no'])
      .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/)),
  );
}

/** The port on the host is chosen here and not by Docker, which would choose another one at every start. */
function startContainer(
  scheme: string,
  innerPort: number,
  definition: () => GenericContainer,
): Promise<ContainerEngine> {
  return withPort(0, async (port) => {
    const start = () =>
      definition()
        .withExposedPorts({ container: innerPort, host: port })
        .withStartupTimeout(READY_WITHIN_MS)
        .start();
    const first = await start();
    return { url: `${scheme}://${first.getHost()}:${port}`, port, ...controls(first, start) };
  });
}

/** A container that has ended is removed: the next start makes a new one. */
function controls(first: StartedTestContainer, start: () => Promise<StartedTestContainer>) {
  let running: StartedTestContainer | undefined = first;
  let paused = false;

  const take = () => {
    const taken = running;
    running = undefined;
    return taken;
  };
  const resume = async () => {
    if (running === undefined || !paused) return;
    await (await docker(running)).unpause();
    paused = false;
  };
  const stop = async () => {
    // Docker does not stop what is paused.
    await resume();
    await take()?.stop({ timeout: STOP_WITHIN_MS });
  };

  return {
    stop,
    resume,
    kill: async () => {
      const container = take();
      paused = false;
      if (container !== undefined) await (await docker(container)).remove({ force: true, v: true });
    },
    restart: async () => {
      await stop();
      running = await start();
    },
    pause: async () => {
      if (running === undefined || paused) return;
      await (await docker(running)).pause();
      paused = true;
    },
  };
}

/** Docker's own handle, for what testcontainers' does not offer. */
async function docker(container: StartedTestContainer) {
  const client = await getContainerRuntimeClient();
  return client.container.getById(container.getId());
}
