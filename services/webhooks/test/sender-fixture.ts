import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, jest } from '@jest/globals';
import { startReceiver } from '@quittance/testkit/receiver';
import { createWebhookSender, type WebhookSender, type WebhookSenderOptions } from '../src/webhook-sender.ts';

/** Enough for an answer on a busy machine. */
export const TIMEOUT_MS = 10_000;
export const order = { headers: { 'content-type': 'application/json' }, body: '{}' };

/** For one suite: senders and servers, which end with their test, and a receiver that answers 200 at first. */
export async function openSenderFixture() {
  const receiver = await startReceiver();
  const senders: WebhookSender[] = [];
  const servers: Server[] = [];
  afterEach(async () => {
    jest.restoreAllMocks();
    receiver.received.length = 0;
    receiver.answer((response) => response.writeHead(200).end());
    await Promise.all(senders.splice(0).map((sender) => sender.close()));
    for (const server of servers.splice(0)) server.close();
  });
  afterAll(() => receiver.close());

  /** Listens until the end of the test. */
  const listening = async (server: Server, host = '127.0.0.1', port = 0) => {
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    return { port: (server.address() as { port: number }).port, connections: () => connections };
  };
  return {
    receiver,
    aSender(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
      const sender = createWebhookSender({ publicOnly: false, timeoutMs: TIMEOUT_MS, ...options });
      senders.push(sender);
      return sender;
    },
    /** A server that writes raw bytes and counts its connections. */
    async rawServer(talk: (socket: Socket) => void) {
      const server = createServer((socket) => {
        socket.on('error', () => {});
        talk(socket);
      });
      const { port, connections } = await listening(server);
      return { url: `http://127.0.0.1:${port}/`, connections };
    },
    listening,
  };
}
