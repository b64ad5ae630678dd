import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';
import { connectRpc, type Rpc } from '../src/json-rpc.ts';

export type Asked = { id: number; method: string };
export type Handler = (request: IncomingMessage, response: ServerResponse, asked: Asked | Asked[]) => void;

/** Nodes that answer as a test tells them to. What one test started ends with it. */
export function scriptedNodes() {
  let server: Server | undefined;
  let rpc: Rpc | undefined;
  afterEach(async () => {
    await rpc?.close();
    server?.closeAllConnections();
    server?.close();
  });

  /** @returns its URL. */
  async function nodeThat(handler: Handler): Promise<string> {
    const node = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on('end', () => handler(request, response, JSON.parse(body) as Asked | Asked[]));
    });
    server = node;
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  }
  function connectTo(url: string): Rpc {
    rpc = connectRpc(url);
    return rpc;
  }
  return { nodeThat, connectTo, connect: async (handler: Handler) => connectTo(await nodeThat(handler)) };
}

export const says =
  (status: number, body: string): Handler =>
  (_request, response) =>
    response.writeHead(status).end(body);

export const answer = (id: number, result: unknown) => ({ jsonrpc: '2.0', id, result });
export const error = (id: number, code: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

/** Everything after which nobody can know what the node did. */
export const failures: [string, Handler][] = [
  ['HTTP 503', says(503, 'upstream')],
  ['HTTP 429', says(429, JSON.stringify(error(0, -32_005, 'slow down')))],
  ['HTTP 502 with a result', says(502, JSON.stringify(answer(0, '0x1')))],
  ['HTTP 302', says(302, '')],
  ['no JSON', says(200, '<html>')],
  ['half an answer', says(200, '{"jsonrpc":"2.0","id":0,"resu')],
  ['no result', says(200, '{"jsonrpc":"2.0","id":0}')],
  ['null', says(200, 'null')],
  ['nothing', says(200, '')],
  ['a closed connection', (request) => request.socket.destroy()],
  [
    'half a body, and a closed connection',
    (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"jsonrpc"');
      setImmediate(() => response.destroy());
    },
  ],
  ['no end', (_request, response) => void response.writeHead(200).write('{')],
  ['silence', () => undefined],
];
