import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { startAnvil } from '@quittance/engines/anvil';
import { ConfigError } from '@quittance/shared/config';
import { newAccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { faucet } from '@quittance/stack/ethereum';
import { api } from '@quittance/testkit/api';
import { boardOf } from '@quittance/testkit/builders';
import { type TestDatabase, testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { localPort } from '@quittance/testkit/local-port';
import { request } from 'undici';
import { type InvoicesService, startInvoices } from '../src/service.ts';
import { configOf, confirmKeys, settings, someQuotes, XPUB } from './replica.ts';

let database: TestDatabase;
let nats: Awaited<ReturnType<typeof testNats>>;
let node: Server;
/** The chain id that the node reports; undefined: it does not answer. */
let chainId: string | undefined;
let service: InvoicesService | undefined;
let port: number;

beforeAll(async () => {
  [database, nats] = await Promise.all([testDatabase(), testNats()]);
  node = createServer((req, res) => {
    if (chainId === undefined) return void req.destroy();
    res.end(JSON.stringify({ jsonrpc: '2.0', id: 0, result: chainId }));
  });
  port = await localPort(node);
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

/** What invoices has of the chain: how far it was read, and what was found. */
const records = async () =>
  await service?.ports.db.one<{ height: number; deposits: number }>(
    'select (select height from cursors) as height, (select count(*)::int from deposits) as deposits',
  );

it('a node that serves another network after a restart is not read, though it has all the blocks that were applied', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-network-'));
  const [own, other] = [join(folder, 'own.json'), join(folder, 'other.json')];
  const chainOf = (statePath: string, chainId: number, port: number) =>
    startAnvil({ port, chainId, statePath, mining: 'manual' });
  const lines: string[] = [];
  await confirmKeys(database, settings.ethereum);
  let anvil = await chainOf(own, 31_337, 0);
  const { port, rpcUrl } = anvil;
  try {
    const config = configOf(database, nats.url, {
      ETHEREUM_RPC_URL: rpcUrl,
      ETHEREUM_CHAIN_ID: '31337',
      ETHEREUM_XPUB: XPUB,
      SCAN_EVERY_MS: '50',
    });
    service = await startInvoices(config, {
      quotes: boardOf(someQuotes('ethereum', new Date()), () => true),
      logger: createLogger('invoices', 'info', { write: (line) => void lines.push(line) }),
    });
    const { port: at } = service;
    const tell = async (method: string, ...params: unknown[]) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const headers = { 'content-type': 'application/json' };
      const answer = await request(rpcUrl, { method: 'POST', headers, body });
      expect(await answer.body.json()).not.toHaveProperty('error');
    };
    const mine = (blocks: number) => tell('anvil_mine', blocks);
    const pay = (to: string) =>
      tell('eth_sendTransaction', { from: faucet.address, to, value: `0x${(10n ** 16n).toString(16)}` });
    const account = newAccountId(new Date());
    const { body } = await api(at, 'POST', '/api/invoices', {
      account,
      body: { asset: 'ETH', amount: 25 },
      now: new Date(),
    });
    const to: string = body.data.address.address;
    await mine(3);
    await eventually(async () => expect((await records())?.height).toBe(3));
    await anvil.stop();

    copyFileSync(own, other);
    anvil = await chainOf(other, 31_338, port);
    await pay(to);
    await mine(5);
    await eventually(async () => expect(await ready(at)).toMatchObject({ status: 503 }));
    expect(lines.filter((line) => line.includes('configured is')).map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 'error',
        chain: 'ethereum',
        reason: 'the node is on chain 31338, configured is 31337',
        msg: 'nothing is read from this node, no payment is seen: correct ETHEREUM_RPC_URL, or the settings of the network',
      }),
    ]);
    expect(await records()).toEqual({ height: 3, deposits: 0 });
    await anvil.stop();

    anvil = await chainOf(own, 31_337, port);
    await pay(to);
    await mine(1);
    await eventually(async () => expect(await records()).toEqual({ height: 4, deposits: 1 }));
    expect(lines.some((line) => line.includes('the node is on the right network again'))).toBe(true);
  } finally {
    await anvil.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
