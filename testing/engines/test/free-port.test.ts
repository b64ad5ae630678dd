import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { assertPortsFree, freePort, PortTaken, withPort } from '../src/free-port.ts';

/** A port somebody listens on, until `close`. */
async function takenPort(host: string): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen({ port, host }, resolve));
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

test('a free port is below the range of outgoing connections', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  for (const port of ports) expect(port).toBeLessThan(32_768);
});

test.each(['127.0.0.1', '0.0.0.0'])(
  'the error names every port taken on %s and what wanted it',
  async (host) => {
    const [first, second] = [await takenPort(host), await takenPort(host)];
    try {
      const asked = assertPortsFree([
        { port: first.port, what: 'the gateway' },
        { port: await freePort(), what: 'the ledger' },
        { port: second.port, what: 'Postgres' },
      ]);
      await expect(asked).rejects.toThrow(
        `port ${first.port}, wanted for the gateway, is taken by another process\n` +
          `port ${second.port}, wanted for Postgres, is taken by another process`,
      );
    } finally {
      await Promise.all([first.close(), second.close()]);
    }
  },
);

test('a port lost between choice and start is chosen again, a named one is not', async () => {
  let starts = 0;
  const loseOnce = async (port: number) => {
    starts += 1;
    if (starts === 1) throw new Error('bind: address already in use');
    return port;
  };
  expect(await withPort(0, loseOnce)).toBeGreaterThan(0);
  expect(starts).toBe(2);

  starts = 0;
  await expect(withPort(4_222, loseOnce)).rejects.toThrow('already in use');
  await expect(withPort(0, () => Promise.reject(new PortTaken('always')))).rejects.toThrow('always');
});
