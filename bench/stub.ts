import { fileURLToPath } from 'node:url';
import { freePort } from '@quittance/engines/free-port';
import { type Engine, startEngine } from '@quittance/engines/process';

export type Stub = { url: string; port: number; engine: Engine };

/** Starts a file of `stubs` as a process of its own. */
export async function startStub(
  name: string,
  argumentsAfter: readonly string[] = [],
  { env = {} }: { env?: Record<string, string> } = {},
): Promise<Stub> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const file = fileURLToPath(new URL(`./stubs/${name}`, import.meta.url));
  const engine = await startEngine({
    name: `stub ${name}`,
    command: () => ({ file: process.execPath, args: [file, String(port), ...argumentsAfter], env }),
    ask: async () => void (await (await fetch(`${url}/healthz`)).text()),
    stopSignal: 'SIGTERM',
  });
  return { url, port, engine };
}
