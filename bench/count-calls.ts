import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { localPort } from '@quittance/testkit/local-port';

/** What services and a node have said to one another, the answers as they were sent, compressed or not. */
export type Traffic = { calls: Map<string, number>; bytes: number };
export type CallCounter = { url: string; traffic: Traffic; close(): Promise<void> };

/** Stands before a node's JSON-RPC, and counts what goes through. Each call of a batch counts, as providers count them. */
export async function countCalls(node: string): Promise<CallCounter> {
  const traffic: Traffic = { calls: new Map(), bytes: 0 };
  const passOn = async (asked: IncomingMessage, answered: ServerResponse) => {
    const body = await buffer(asked);
    for (const { method } of [JSON.parse(body.toString())].flat() as { method: string }[])
      traffic.calls.set(method, (traffic.calls.get(method) ?? 0) + 1);
    const { pathname, search, username, password } = new URL(node);
    const headers = { ...asked.headers, host: new URL(node).host };
    const auth = username === '' ? {} : { auth: `${username}:${password}` };
    const onward = request(
      node,
      { method: asked.method, path: pathname + search, headers, ...auth },
      (answer) => {
        answered.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.on('data', (bytes: Buffer) => {
          traffic.bytes += bytes.length;
        });
        answer.pipe(answered);
      },
    );
    onward.on('error', () => answered.destroy());
    traffic.bytes += body.length;
    onward.end(body);
  };
  const server = createServer((asked, answered) => {
    passOn(asked, answered).catch(() => answered.destroy());
  });
  const here = new URL(node);
  here.host = `127.0.0.1:${await localPort(server)}`;
  return {
    url: here.href,
    traffic,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
