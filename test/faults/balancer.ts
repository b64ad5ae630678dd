import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const LOOKS_EVERY_MS = 500;
const ANSWERS_WITHIN_MS = 1_000;

export type Balancer = { url: string; close(): Promise<void> };

/**
 * What an operator has before the replicas of a service: each new connection goes to the next replica that said it was
 * ready, and where one refuses to the one after it. It reads nothing of what it passes on. Where none is ready all are
 * tried: they can say so themselves.
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const ready = new Set(ports);
  const open = new Set<Socket>();
  let turn = 0;

  function candidates(): number[] {
    turn += 1;
    const known = ready.size > 0 ? ports.filter((port) => ready.has(port)) : ports;
    return known.map((_, i) => known[(turn + i) % known.length] as number);
  }

  function lead(client: Socket, [port, ...others]: number[]): void {
    if (port === undefined || client.destroyed) return void client.destroy();
    const replica = connect({ port, host: '127.0.0.1', noDelay: true });
    const refused = () => {
      ready.delete(port);
      lead(client, others);
    };
    replica.once('error', refused);
    replica.once('connect', () => {
      replica.off('error', refused);
      open.add(replica);
      client.pipe(replica);
      replica.pipe(client);
      // Told by 'close', of whichever broke.
      for (const socket of [client, replica]) socket.on('error', () => undefined);
      client.once('close', () => replica.destroy());
      replica.once('close', () => {
        open.delete(replica);
        client.destroySoon();
      });
    });
  }

  const server = createServer({ noDelay: true }, (client) => {
    open.add(client);
    client.once('close', () => open.delete(client));
    client.once('error', () => client.destroy());
    lead(client, candidates());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const look = async (port: number): Promise<void> => {
    const isReady = await fetch(`http://127.0.0.1:${port}/readyz`, {
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) ready.add(port);
    else ready.delete(port);
  };
  const looks = setInterval(() => void Promise.all(ports.map(look)), LOOKS_EVERY_MS);

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        clearInterval(looks);
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
