import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { localPort } from './local-port.ts';

export type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string; at: Date };

export type Receiver = {
  url: string;
  /** Everything that arrived, in order. */
  received: Received[];
  /** How the next requests are answered; 200 at first. */
  answer(respond: (response: ServerResponse, request: Received) => void): void;
  close(): Promise<void>;
};

/**
 * A merchant's webhook server.
 * @param check throws when a body is not as documented: then closing the receiver fails
 */
export async function startReceiver(check?: (body: string) => void): Promise<Receiver> {
  const problems: unknown[] = [];
  const received: Received[] = [];
  let respond = (response: ServerResponse, _request: Received): void => {
    response.writeHead(200).end();
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        method: request.method ?? '',
        path: request.url ?? '/',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at: new Date(),
      };
      received.push(one);
      try {
        check?.(one.body);
      } catch (problem) {
        problems.push(problem);
      }
      respond(response, one);
    });
  });
  return {
    url: `http://127.0.0.1:${await localPort(server)}`,
    received,
    answer(next) {
      respond = next;
    },
    close: () =>
      new Promise((resolve, reject) => {
        server.close(() => {
          if (problems.length === 0) resolve();
          else reject(new AggregateError(problems, String(problems[0])));
        });
        server.closeAllConnections();
      }),
  };
}
