import { createServer } from 'node:http';
import { startFaultProxy } from '@quittance/testkit/fault-proxy';

/**
 * Stands between services and Postgres, as a network would: each piece of an answer comes so many milliseconds later.
 * `node delay.ts CONTROL-PORT TARGET-PORT`; `POST /MILLISECONDS` on the first port sets the delay, which is 0 before, and every answer
 * of it is the port by which the target is reached.
 */
const [, , control = '', target = ''] = process.argv;
const proxy = await startFaultProxy(`tcp://127.0.0.1:${target}`);
const { port } = new URL(proxy.url);

createServer(({ method, url = '' }, response) => {
  // eslint-disable-next-line no-restricted-syntax -- milliseconds
  if (method === 'POST') proxy.set({ kind: 'latency', ms: Number(url.slice(1)) });
  response.end(port);
  // eslint-disable-next-line no-restricted-syntax -- a port
}).listen(Number(control), '127.0.0.1');
