import { createServer, type Socket } from 'node:net';
import { localPort } from '@quittance/testkit/local-port';

/** A mail server that takes nothing: it says so, or says nothing at all. */
export type UnwillingMailServer = {
  port: number;
  says(how: 'no' | 'nothing'): void;
  refused(): number;
  close(): Promise<void>;
};

export async function startUnwillingMailServer(): Promise<UnwillingMailServer> {
  const open = new Set<Socket>();
  let how: 'no' | 'nothing' = 'no';
  let refused = 0;
  const refuse = (socket: Socket) => {
    refused += 1;
    socket.end('421 4.3.2 try again later\r\n');
  };
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => open.delete(socket));
    if (how === 'no') refuse(socket);
  });
  const port = await localPort(server);
  return {
    port,
    refused: () => refused,
    says(next) {
      how = next;
      if (how === 'no') for (const socket of open) refuse(socket);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
