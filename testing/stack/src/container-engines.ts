import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { withPort } from '@quittance/engines/free-port';
import { askForInfo } from '@quittance/engines/nats';
import { selectOne } from '@quittance/engines/postgres';
import { startEngine } from '@quittance/engines/process';
import { ping } from '@quittance/engines/redis';
import { natsImage, postgresImage, redisImage } from './container-images.ts';
import { removeContainers } from './docker-command.ts';
import { launchAgain, launchNew } from './launch-container.ts';
import type { Parts } from './parts.ts';
import { newName, StackContainer } from './stack-container.ts';

/*
 * Postgres, NATS and Redis from their official images. The data of Postgres is in its container, which stays when it ends,
 * until it is destroyed or all that `named` begins with is removed. The data of NATS is where it is with a process, in a
 * folder that the engine must be able to mount.
 */

const SUPERUSER = 'postgres';
const POSTGRES_PORT = 5432;
const NATS_PORT = 4222;
const NATS_CONFIG = '/etc/quittance/nats-server.conf';
const REDIS_PORT = 6379;
/** Long: the first start makes the cluster, on a machine that may build images at the same time. */
const READY_WITHIN_MS = 180_000;

/** As the sandbox's own. */
const POSTGRES_SETTINGS = { max_connections: 200 };

export const containerEngines = (named: string): Pick<Parts, 'postgres' | 'nats' | 'redis'> => ({
  postgres: ({ port: wanted, settings, log, onUnexpectedExit }) =>
    withPort(wanted, async (port) => {
      const name = newName(`${named}postgres`);
      const password = randomBytes(24).toString('hex');
      const url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
      const flags = Object.entries({ ...POSTGRES_SETTINGS, ...settings }).flatMap(([setting, value]) => [
        '-c',
        `${setting}=${value}`,
      ]);
      const engine = await startEngine({
        log,
        onUnexpectedExit,
        readyWithinMs: READY_WITHIN_MS,
        name: 'Postgres',
        stopSignal: 'SIGINT',
        command: () => ({ file: 'postgres', args: flags }),
        ask: () => selectOne(url),
        launch: launchAgain(({ file, args }) =>
          new StackContainer(postgresImage(), name)
            .withEnvironment({
              POSTGRES_PASSWORD: password,
              // Sorting does not depend on the image's libraries.
              POSTGRES_INITDB_ARGS: '--encoding=UTF8 --locale=C',
            })
            .withCommand([file, ...args])
            .publishedOnLoopback(POSTGRES_PORT, port),
        ),
      });
      const destroy = async () => {
        await engine.stop();
        await removeContainers(name);
      };
      return Object.defineProperty(Object.assign(engine, { url, port, destroy, dataDir: '' }), 'dataDir', {
        get() {
          throw new Error(
            'the data of a Postgres from an image is in its container, in no folder of this machine',
          );
        },
      });
    }),

  nats: ({ dataDir, port: wanted, config = '', syncInterval, log, onUnexpectedExit }) =>
    withPort(wanted, async (port) => {
      const { uid, gid } = userInfo();
      const sync = syncInterval === undefined ? '' : `, sync_interval: ${syncInterval}`;
      const content = `${config}\nlisten: "0.0.0.0:${NATS_PORT}"\njetstream { store_dir: "/data"${sync} }\n`;
      const engine = await startEngine({
        log,
        onUnexpectedExit,
        readyWithinMs: READY_WITHIN_MS,
        name: 'nats-server',
        stopSignal: 'SIGTERM',
        command: () => ({ file: 'nats-server', args: ['--config', NATS_CONFIG] }),
        ask: () => askForInfo(port),
        launch: launchNew(({ args }) => {
          // Before every start: Docker would make a missing folder root's.
          mkdirSync(dataDir, { recursive: true });
          return new StackContainer(natsImage(), newName(`${named}nats`))
            .withUser(`${uid}:${gid}`)
            .withBindMounts([{ source: dataDir, target: '/data', mode: 'rw' }])
            .withCommand([...args])
            .withCopyContentToContainer([{ content, target: NATS_CONFIG }])
            .publishedOnLoopback(NATS_PORT, port);
        }),
      });
      return Object.assign(engine, { url: `nats://127.0.0.1:${port}`, port });
    }),

  redis: ({ port: wanted, log, onUnexpectedExit }) =>
    withPort(wanted, async (port) => {
      const engine = await startEngine({
        log,
        onUnexpectedExit,
        readyWithinMs: READY_WITHIN_MS,
        name: 'redis-server',
        stopSignal: 'SIGTERM',
        // In memory only, as the sandbox's.
        command: () => ({ file: 'redis-server', args: ['--save', '', '--appendonly', 'no'] }),
        ask: () => ping(port),
        launch: launchNew(({ file, args }) =>
          new StackContainer(redisImage(), newName(`${named}redis`))
            .withCommand([file, ...args])
            .publishedOnLoopback(REDIS_PORT, port),
        ),
      });
      return Object.assign(engine, { url: `redis://127.0.0.1:${port}`, port });
    }),
});
