import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';

/**
 * Stands between services and Postgres, as a network would: each piece of an answer comes so many milliseconds later.
 * `node delay.ts CONTROL-PORT PORT TARGET-PORT`; `POST /MILLISECONDS` on the first port sets the delay, which is 0 before.
 */
const [, , control = '', port = '', target = ''] = process.argv;
let delayMs = 0;

createHttpServer(({ method, url = '' }, response) => {
  // eslint-disable-next-line no-restricted-syntax -- milliseconds
  if (method === 'POST') delayMs = Number(url.slice(1));
  response.end();
  // eslint-disable-next-line no-restricted-syntax -- a port
}).listen(Number(control), '127.0.0.1');

createServer({ noDelay: true }, (client) => {
  // eslint-disable-next-line no-restricted-syntax -- a port
  const database = connect({ port: Number(target), host: '127.0.0.1', noDelay: true });
  client.pipe(database);
  database.on('data', later(client));
  for (const [socket, other] of [
    [client, database],
    [database, client],
  ] as const)
    socket.on('error', () => other.destroy()).on('close', () => other.destroy());
  // eslint-disable-next-line no-restricted-syntax -- a port
}).listen(Number(port), '127.0.0.1');

/** Writes what comes in its order, when it is due. */
function later(to: Socket): (bytes: Buffer) => void {
  const waiting: { bytes: Buffer; due: number }[] = [];
  const flush = () => {
    for (let [first] = waiting; first !== undefined && first.due <= performance.now(); [first] = waiting) {
      to.write(first.bytes);
      waiting.shift();
    }
    const [next] = waiting;
    if (next !== undefined) setTimeout(flush, next.due - performance.now());
  };
  return (bytes) => {
    waiting.push({ bytes, due: performance.now() + delayMs });
    if (waiting.length === 1) flush();
  };
}
