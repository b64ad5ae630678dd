import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type RedisHandle, startRedis } from '../src/redis.ts';
import { scratchFolder } from './scratch.ts';

const scratch = scratchFolder();
let redis: RedisHandle;

beforeAll(async () => {
  redis = await startRedis({ port: 0, dataDir: scratch.folder });
});

afterAll(async () => {
  await redis.stop();
  scratch.remove();
});

/** One inline command on a connection of its own; `silence` when there is no answer in time. */
function command(text: string, withinMs = 2_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: redis.port, host: '127.0.0.1' }, () => socket.write(`${text}\r\n`));
    socket.setTimeout(withinMs, () => {
      socket.destroy();
      resolve('silence');
    });
    socket.once('data', (answer) => {
      socket.destroy();
      resolve(answer.toString().trim().split('\r\n').pop() ?? '');
    });
    socket.once('error', reject);
  });
}

test('it answers, and keeps its data over a restart', async () => {
  expect(await command('SET color green')).toBe('+OK');
  await redis.restart();
  expect(await command('GET color')).toBe('green');
});

test('paused it takes connections and says nothing, resumed it answers', async () => {
  redis.pause();
  expect(await command('PING', 200)).toBe('silence');
  redis.resume();
  expect(await command('PING')).toBe('+PONG');
});

test('a paused one is stopped all the same', async () => {
  redis.pause();
  const started = Date.now();
  await redis.stop();
  expect(Date.now() - started).toBeLessThan(30_000);
  await expect(command('PING')).rejects.toThrow('ECONNREFUSED');
  await redis.restart();
});
