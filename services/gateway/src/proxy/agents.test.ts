import { once } from 'node:events';
import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { renewingAgent } from './agents.ts';

const replicas = ['127.0.0.1', '127.0.0.2'];
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

async function replica(host: string, port: number): Promise<number> {
  const server = createServer((_req, res) => res.end(host));
  server.listen(port, host);
  await once(server, 'listening');
  servers.push(server.unref());
  return (server.address() as AddressInfo).port;
}

/** Asks a service by its name, over connections that are not kept. */
async function ask(port: number): Promise<string> {
  const agent = renewingAgent('http:', {}, (_hostname, _options, done) =>
    done(
      null,
      replicas.map((address) => ({ address, family: 4 })),
    ),
  );
  const request = get({ host: 'replicas.test', port, agent });
  const [response] = await once(request, 'response');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  agent.destroy();
  return text;
}

it('spreads over all the addresses of a name, whatever their order', async () => {
  const port = await replica('127.0.0.1', 0);
  await replica('127.0.0.2', port);
  const answers = await Promise.all(Array.from({ length: 64 }, () => ask(port)));
  expect([...new Set(answers)].sort()).toEqual(replicas);
});

it('passes one over that takes no connection', async () => {
  const port = await replica('127.0.0.2', 0);
  const answers = await Promise.all(Array.from({ length: 32 }, () => ask(port)));
  expect(answers).toEqual(answers.map(() => '127.0.0.2'));
});
