import { createServer } from 'node:http';
import { localPort } from '@quittance/testkit/local-port';

/** What stands before a node's JSON-RPC and may answer for it. */
export type RpcServer = { host: string; close(): Promise<void> };

/** @param says what is answered to a body; where it throws, the connection is cut off */
export async function startRpcServer(says: (body: string) => Promise<string>): Promise<RpcServer> {
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      says(Buffer.concat(chunks).toString()).then(
        (text) => {
          outgoing.setHeader('content-type', 'application/json');
          outgoing.end(text);
        },
        () => outgoing.destroy(),
      );
    });
  });
  const port = await localPort(server);
  return {
    host: `127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
