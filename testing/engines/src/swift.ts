import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fetched } from './fetched.ts';
import { assertPortsFree, withPort } from './free-port.ts';
import { type Engine, type EngineOptions, startEngine } from './process.ts';

const STORE = fileURLToPath(new URL('./swift-store.py', import.meta.url));
const ASK_WITHIN_MS = 2_000;

/** Who may do everything, and who may do nothing. */
export const swiftKeys = {
  owner: { accessKeyId: 'shop:owner', secretAccessKey: 'secret-of-the-owner' },
  stranger: { accessKeyId: 'shop:stranger', secretAccessKey: 'secret-of-the-stranger' },
} as const;

export type SwiftOptions = EngineOptions & {
  /** What runs it, from `findSwift`. */
  program: string;
  /** Keeps the objects. Its file system needs extended attributes. */
  dataDir: string;
  /** 0 picks a free one. */
  port: number;
  /** Another one in a request is refused. */
  region: string;
};

export type SwiftHandle = Engine & { url: string; port: number };

/** The program that runs Swift, which is fetched once when this machine has none. Throws EngineMissing where it cannot be had. */
export const findSwift = (): Promise<string> => fetched('fetch-swift');

/**
 * Starts OpenStack Swift with its interface of S3 on the loopback interface: signatures of version 4, uploads in parts, conditions on
 * their completion. It has no conditions on single uploads and no other regions.
 */
export async function startSwift(options: SwiftOptions): Promise<SwiftHandle> {
  return await withPort(options.port, async (port) => {
    const { owner, stranger } = swiftKeys;
    const engine = await startEngine({
      ...options,
      name: 'swift',
      stopSignal: 'SIGTERM',
      command: async () => {
        await assertPortsFree([{ port, what: 'swift' }]);
        mkdirSync(options.dataDir, { recursive: true });
        const users = [
          `${owner.accessKeyId}=${owner.secretAccessKey}:admin`,
          `${stranger.accessKeyId}=${stranger.secretAccessKey}`,
        ];
        return {
          file: options.program,
          args: [STORE, options.dataDir, String(port), options.region, ...users],
        };
      },
      ask: () => askForHealth(port),
    });
    return Object.assign(engine, { url: `http://127.0.0.1:${port}`, port });
  });
}

async function askForHealth(port: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/healthcheck`, {
    signal: AbortSignal.timeout(ASK_WITHIN_MS),
  });
  const text = await answer.text();
  if (text !== 'OK') throw new Error(`it answers ${answer.status}`);
}
