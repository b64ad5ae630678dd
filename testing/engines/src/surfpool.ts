import { generateKeyPairSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { assertPortsFree, withPort } from './free-port.ts';
import { EngineMissing } from './installed.ts';
import { type Engine, type EngineOptions, startEngine } from './process.ts';

const ASK_WITHIN_MS = 2_000;
/** The public networks' pace: a block is finalized some thirteen seconds after it was made. */
const SLOT_MS = 400;

export type SurfpoolOptions = EngineOptions & {
  /** 0 picks a free one. */
  port: number;
  wsPort: number;
  /** How long a slot takes; 400 when not given. */
  slotMs?: number | undefined;
};

export type SurfpoolHandle = Engine & {
  rpcUrl: string;
  wsUrl: string;
  port: number;
  /** Of an account with 100,000 SOL: 32 bytes of key and 32 of address. The node's `requestAirdrop` gives SOL as well. */
  payerSecretKey: Uint8Array;
};

/**
 * Starts a real Solana runtime for development, on the loopback interface. It keeps nothing: every start, and so
 * every restart, is a new chain. Throws EngineMissing where there is no binary for this machine.
 */
export async function startSurfpool(options: SurfpoolOptions): Promise<SurfpoolHandle> {
  const packageName = assertInstalled();
  const payerSecretKey = newKey();
  return await withPort(options.port, (port) =>
    withPort(options.wsPort, async (wsPort) => {
      const rpcUrl = `http://127.0.0.1:${port}`;
      const engine = await startEngine({
        ...options,
        name: 'surfpool',
        stopSignal: 'SIGTERM',
        command: async () => {
          await assertPortsFree([
            { port, what: 'surfpool' },
            { port: wsPort, what: 'surfpool (websocket)' },
          ]);
          const slotMs = options.slotMs ?? SLOT_MS;
          const config = { packageName, port, wsPort, slotMs, payerSecretKey: [...payerSecretKey] };
          const script = fileURLToPath(new URL('./surfpool-node.ts', import.meta.url));
          return { file: process.execPath, args: [script, JSON.stringify(config)] };
        },
        ask: () => askForGenesis(rpcUrl),
      });
      return Object.assign(engine, { rpcUrl, wsUrl: `ws://127.0.0.1:${wsPort}`, port, payerSecretKey });
    }),
  );
}

/** Its makers build for Linux with glibc and for macOS. @returns the package's name. */
function assertInstalled(): string {
  const libc = process.platform === 'linux' ? '-gnu' : '';
  const name = `@solana/surfpool-${process.platform}-${process.arch}${libc}`;
  try {
    createRequire(import.meta.url).resolve(name);
    return name;
  } catch {
    throw new EngineMissing(
      `there is no Solana node for ${process.platform}-${process.arch} among the packages (${name}): leave Solana out`,
    );
  }
}

function newKey(): Uint8Array {
  const { d, x } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return Buffer.concat([Buffer.from(d ?? '', 'base64url'), Buffer.from(x ?? '', 'base64url')]);
}

async function askForGenesis(rpcUrl: string): Promise<void> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getGenesisHash', params: [] }),
    signal: AbortSignal.timeout(ASK_WITHIN_MS),
  });
  const { result } = (await response.json()) as { result?: string };
  if (result === undefined) throw new Error('it answers without a genesis hash');
}
