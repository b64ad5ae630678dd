import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the range Linux hands out to outgoing connections (32768 and up). From that range a client that calls a
// stopped engine's port could be given that very port for its own end, connect to itself and keep it taken.
const FIRST_PORT = 20_000;
const LAST_PORT = 32_700;
const TRIES_MAX = 100;
const STARTS_MAX = 3;

/** Some process already listens on a port that is needed. */
export class PortTaken extends Error {
  override name = 'PortTaken';
}

/** A port of the loopback interface that nobody listens on just now. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await isFree(port)) return port;
  }
  throw new PortTaken(`found no free port between ${FIRST_PORT} and ${LAST_PORT} in ${TRIES_MAX} tries`);
}

/** Throws one error that names every taken port and what wanted it. */
export async function assertPortsFree(wanted: readonly { port: number; what: string }[]): Promise<void> {
  const taken: string[] = [];
  for (const { port, what } of wanted) {
    if (!(await isFree(port))) taken.push(`port ${port}, wanted for ${what}, is taken by another process`);
  }
  if (taken.length > 0) throw new PortTaken(taken.join('\n'));
}

/**
 * Calls `start` with the given port, or with a free one when it is 0. Between the choice and the engine's bind
 * another process may take a free port: then the next one is tried.
 */
export async function withPort<T>(port: number, start: (port: number) => Promise<T>): Promise<T> {
  if (port !== 0) return await start(port);
  for (let tries = 1; ; tries++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (tries === STARTS_MAX || !isAboutAPort(error)) throw error;
    }
  }
}

function isAboutAPort(error: unknown): boolean {
  return (
    error instanceof PortTaken ||
    (error instanceof Error && /address (?:already )?in use/i.test(error.message))
  );
}

/** A listener on all interfaces takes the port on the loopback too, though some systems let both be bound. */
async function isFree(port: number): Promise<boolean> {
  return (await canListen(port, '0.0.0.0')) && (await canListen(port, '127.0.0.1'));
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen({ port, host }, () => server.close(() => resolve(true)));
  });
}
