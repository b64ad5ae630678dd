import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { ping } from '@quittance/engines/redis';
import { containerEngines } from '@quittance/stack/container-engines';
import { CONTAINER_NAMES } from '@quittance/stack/container-images';
import { removeContainers } from '@quittance/stack/docker-command';
import { must } from '@quittance/stack/shell';
import { onServer } from '@quittance/testkit/databases';
import { eventually } from '@quittance/testkit/eventually';

/** The engines that integration suites take from containers do what those do that are processes: suites cannot tell. */

const named = `${CONTAINER_NAMES}${randomBytes(4).toString('hex')}-`;
const start = containerEngines(named);

const dataDir = mkdtempSync(join(tmpdir(), 'quittance-nats-'));

const linesOf = async (...order: string[]) => (await must('docker', order)).split('\n').filter(Boolean);
const containers = () => linesOf('ps', '--all', '--format', '{{.Names}}', '--filter', `name=${named}`);

afterAll(async () => {
  await removeContainers(named);
  expect(await containers()).toEqual([]);
  rmSync(dataDir, { recursive: true });
});

test('Postgres has what was committed after a kill and after a stop, on the same port, and leaves nothing behind', async () => {
  const postgres = await start.postgres({ dataDir: 'of no use', port: 0 });
  const insert = (id: number) => onServer(postgres.url, `insert into kept values (${id})`);
  await onServer(postgres.url, 'create table kept (id int primary key)');
  await insert(1);
  expect(postgres.pid).toBeGreaterThan(0);
  postgres.kill();
  await expect(insert(2)).rejects.toThrow();
  await eventually(() => expect(postgres.pid).toBeUndefined());
  await postgres.restart();
  await insert(3);
  await postgres.stop();
  expect(postgres.pid).toBeUndefined();
  await postgres.restart();
  await insert(2);
  for (const id of [1, 3]) await expect(insert(id)).rejects.toThrow('kept_pkey');
  expect(() => postgres.dataDir).toThrow('in its container');
  const mounts = ['--format', '{{range .Mounts}}{{println .Name}}{{end}}'];
  const own = await linesOf('inspect', ...mounts, ...(await containers()));
  await postgres.destroy();
  expect(await containers()).toEqual([]);
  const left = await linesOf('volume', 'ls', '--quiet');
  expect(left.filter((volume) => own.includes(volume))).toEqual([]);
});

test('an engine that is paused hangs from that moment on, goes on when it may, and can be told to end', async () => {
  const redis = await start.redis({ port: 0 });
  await ping(redis.port);
  redis.pause();
  await expect(ping(redis.port)).rejects.toThrow('no answer to PING');
  redis.resume();
  await ping(redis.port);
  redis.pause();
  await redis.stop();
  await expect(ping(redis.port)).rejects.toThrow();
  await redis.restart();
  await ping(redis.port);
  await redis.stop();
});

test('an end that nobody asked for is told with the last lines, and so is a start that fails', async () => {
  const ends: string[] = [];
  const onUnexpectedExit = (error: Error) => ends.push(error.message);
  const nats = await start.nats({ dataDir, port: 0, onUnexpectedExit });
  await must('docker', ['kill', ...(await containers())]);
  await eventually(() => expect(ends).toHaveLength(1));
  expect(ends[0]).toMatch(/^nats-server ended \(exit code 137\)\. It said:\n[\s\S]*Server is ready/);
  await nats.restart();
  await nats.stop();
  expect(ends).toHaveLength(1);

  const wrong = start.nats({ dataDir, port: 0, config: 'authorization {' });
  await expect(wrong).rejects.toThrow(
    /nats-server ended while it was starting \(exit code 1\)\. It said:\nnats-server: /,
  );
});
