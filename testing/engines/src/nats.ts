import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { assertPortsFree, withPort } from './free-port.ts';
import { installed } from './installed.ts';
import { type Engine, type EngineOptions, startEngine } from './process.ts';

const ASK_WITHIN_MS = 2_000;

export type NatsOptions = EngineOptions & {
  /** Holds the configuration file and JetStream's streams. Made when missing. */
  dataDir: string;
  /** 0 picks a free one. */
  port: number;
  /** More configuration in nats-server's own language: accounts, users, permissions, limits. */
  config?: string | undefined;
  /**
   * When what was acknowledged reaches the disk: nats-server's own default is within two minutes, `always` before each
   * acknowledgement.
   */
  syncInterval?: string | undefined;
};

export type NatsHandle = Engine & { url: string; port: number };

/** Starts a nats-server with JetStream on files, on the loopback interface only. */
export async function startNats(options: NatsOptions): Promise<NatsHandle> {
  const { file, env } = installed('natsServer');
  return await withPort(options.port, async (port) => {
    const configFile = path.join(options.dataDir, 'nats-server.conf');
    const engine = await startEngine({
      ...options,
      name: 'nats-server',
      stopSignal: 'SIGTERM',
      command: async () => {
        await assertPortsFree([{ port, what: 'nats-server' }]);
        mkdirSync(options.dataDir, { recursive: true });
        // Written again: the mode counts for new files only, and the configuration may hold passwords.
        rmSync(configFile, { force: true });
        writeFileSync(configFile, configuration(options, port), { mode: 0o600 });
        return { file, args: ['--config', configFile], env };
      },
      ask: () => askForInfo(port),
    });
    return Object.assign(engine, { url: `nats://127.0.0.1:${port}`, port });
  });
}

function configuration(options: NatsOptions, port: number): string {
  const storeDir = JSON.stringify(path.resolve(options.dataDir, 'jetstream'));
  const sync = options.syncInterval === undefined ? '' : `, sync_interval: ${options.syncInterval}`;
  return `${options.config ?? ''}\nlisten: "127.0.0.1:${port}"\njetstream { store_dir: ${storeDir}${sync} }\n`;
}

/** A server greets every connection with its INFO, before any login, and only once JetStream has its data. */
export function askForInfo(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: ASK_WITHIN_MS });
    let greeting = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      greeting += chunk;
      if (!greeting.includes('\r\n')) return;
      socket.destroy();
      if (/"jetstream":\s*true/.test(greeting)) resolve();
      else reject(new Error(`it answers without JetStream: ${greeting.slice(0, 200)}`));
    });
    socket.on('timeout', () => socket.destroy(new Error('no greeting')));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the connection was closed without a greeting')));
  });
}
