import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { ConfigError } from '@quittance/shared/config';
import { type TestDatabase, testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { request } from 'undici';
import { type InvoicesService, startInvoices } from '../src/service.ts';
import { configOf, XPUB } from './replica.ts';

let database: TestDatabase;
let nats: Awaited<ReturnType<typeof testNats>>;
let node: Server;
/** The chain id that the node reports; undefined: it does not answer. */
let chainId: string | undefined;
let service: InvoicesService | undefined;

beforeAll(async () => {
  [database, nats] = await Promise.all([testDatabase(), testNats()]);
  node = createServer((req, res) => {
    if (chainId === undefined) return void req.destroy();
    res.end(JSON.stringify({ jsonrpc: '2.0', id: 0, result: chainId }));
  });
  await new Promise<void>((resolve) => {
    node.listen(0, '127.0.0.1', resolve);
  });
});
afterEach(async () => {
  await service?.stop();
  service = undefined;
});
afterAll(async () => {
  node.close();
  node.closeAllConnections();
  await nats.stop();
  await database.drop();
});

async function start() {
  const { port } = node.address() as AddressInfo;
  const config = configOf(database, nats.url, {
    ETHEREUM_RPC_URL: `http://127.0.0.1:${port}`,
    ETHEREUM_CHAIN_ID: '31337',
    ETHEREUM_XPUB: XPUB,
    SCAN_EVERY_MS: '20',
  });
  service = await startInvoices(config);
  return service;
}

const ready = async (port: number) => {
  const answer = await request(`http://127.0.0.1:${port}/readyz`);
  return { status: answer.statusCode, text: await answer.body.text() };
};

it('a node of another network refuses the start and names the setting', async () => {
  chainId = '0x1';
  const failure = await start().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigError);
  expect((failure as ConfigError).problems).toEqual([
    'ETHEREUM_RPC_URL: the node is on chain 1, configured is 31337',
  ]);
});

it('a node that is down at the start is waited for, and refused when it is of another network', async () => {
  chainId = undefined;
  const { port } = await start();
  expect(await ready(port)).toMatchObject({ status: 200 });
  chainId = '0x2105';
  await eventually(async () => {
    const { status, text } = await ready(port);
    expect(status).toBe(503);
    expect(text).toContain('the right network behind ETHEREUM_RPC_URL');
  });
  // No block is read from it.
  expect(await service?.ports.db.rows('select 1 from cursors')).toEqual([]);
  chainId = '0x7a69';
  await eventually(async () => expect(await ready(port)).toMatchObject({ status: 200 }));
});
