import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { assertPortsFree, withPort } from './free-port.ts';
import { installed } from './installed.ts';
import { type Engine, type EngineOptions, startEngine } from './process.ts';

const ASK_WITHIN_MS = 2_000;

export type RedisOptions = EngineOptions & {
  /** 0 picks a free one. */
  port: number;
  /** Keeps the data in an append-only file there; without it, in memory only. */
  dataDir?: string | undefined;
};

export type RedisHandle = Engine & { url: string; port: number };

/** Starts a redis-server on the loopback interface. Throws EngineMissing where the machine has none. */
export async function startRedis(options: RedisOptions): Promise<RedisHandle> {
  const { file, env } = installed('redisServer');
  return await withPort(options.port, async (port) => {
    const engine = await startEngine({
      ...options,
      name: 'redis-server',
      stopSignal: 'SIGTERM',
      command: async () => {
        await assertPortsFree([{ port, what: 'redis-server' }]);
        return { file, args: settings(options, port), env };
      },
      ask: () => ping(port),
    });
    return Object.assign(engine, { url: `redis://127.0.0.1:${port}`, port });
  });
}

function settings(options: RedisOptions, port: number): string[] {
  if (options.dataDir !== undefined) mkdirSync(options.dataDir, { recursive: true });
  return [
    ...['--bind', '127.0.0.1', '--port', String(port), '--save', ''],
    ...['--dir', options.dataDir ?? tmpdir()],
    ...['--appendonly', options.dataDir === undefined ? 'no' : 'yes'],
  ];
}

/** Throws while it does not answer, or is still reading its data; takes some two seconds at most. */
export function ping(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: ASK_WITHIN_MS });
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write('PING\r\n'));
    // -LOADING while it still reads its append-only file.
    socket.on('data', (answer: string) => {
      socket.destroy();
      if (answer.startsWith('+PONG')) resolve();
      else reject(new Error(`it answers ${answer.trim()}`));
    });
    socket.on('timeout', () => socket.destroy(new Error('no answer to PING')));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the connection was closed without an answer')));
  });
}
