import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Listening } from '@quittance/shared/http-server';
import { newAccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { TEST_PAYMENTS_PATH } from '@quittance/shared/test-money';
import { api, foreignKeys, gatewayKeys, identityOf } from '@quittance/testkit/api';
import { localPort } from '@quittance/testkit/local-port';
import { serveTestMoney } from './test-money.ts';

/** Who pays with test money, and who does not. The node refuses everything, and counts what it was asked. */
let testMoney: Listening;
let node: Server;
let asked = 0;

beforeAll(async () => {
  node = createServer((_req, res) => {
    asked += 1;
    res.statusCode = 500;
    res.end();
  });
  const rpc = `http://127.0.0.1:${await localPort(node)}`;
  testMoney = await serveTestMoney({
    port: 0,
    nodes: { ethereum: { rpc, tokens: { USDC_ERC20: '0x5FbDB2315678afecb367f032d93F642f64180aa3' } } },
    gatewayPublicKey: gatewayKeys.publicKey,
    logger: createLogger('sandbox', 'silent'),
  });
});
beforeEach(() => {
  asked = 0;
});
afterAll(async () => {
  await testMoney.close(0);
  node.close();
});

const payment = { asset: 'ETH', address: '0x52908400098527886E0F7030069857D2E4169EE7', amount: '0.1' };
const account = newAccountId(new Date());
const pay = (body: object) => api(testMoney.port, 'POST', TEST_PAYMENTS_PATH, { account, body });

test('a page of another origin, which knows the port, pays nothing', async () => {
  const answer = await fetch(`http://127.0.0.1:${testMoney.port}${TEST_PAYMENTS_PATH}`, {
    method: 'POST',
    headers: { 'Content-Type': 'text/plain', Origin: 'https://elsewhere.example' },
    body: JSON.stringify(payment),
  });
  expect([answer.status, asked]).toEqual([401, 0]);
});

test('only what the gateway has asserted to the sandbox itself is paid', async () => {
  const body = JSON.stringify(payment);
  for (const other of [{ receiver: 'payouts' }, { privateKey: foreignKeys.privateKey }] as const) {
    const headers = identityOf(account, { method: 'POST', path: TEST_PAYMENTS_PATH, body, ...other });
    expect((await api(testMoney.port, 'POST', TEST_PAYMENTS_PATH, { headers, body })).status).toBe(401);
  }
  expect(asked).toBe(0);
});

test('what cannot be paid is refused before the node is asked', async () => {
  for (const amount of ['0', '-1', '0.0000000000000000001', 'all', '1000.1', '9'.repeat(80)])
    expect([amount, (await pay({ ...payment, amount })).status]).toEqual([amount, 422]);
  expect((await pay({ ...payment, asset: 'DOGE' })).status).toBe(422);
  const noNode = await pay({ ...payment, asset: 'BTC' });
  expect([noNode.status, Object.keys(noNode.body.errors)]).toEqual([422, ['asset']]);
  for (const address of ['me', `${payment.address}0`, 'HN7cABqLq46Es1jh92dQQisAq662SmxELLLsHHe4YWrH']) {
    const nowhere = await pay({ ...payment, address });
    expect([address, nowhere.status, Object.keys(nowhere.body.errors)]).toEqual([address, 422, ['address']]);
  }
  expect((await pay({ ...payment, to: 'me' })).status).toBe(422);
  expect(asked).toBe(0);
});

test('a node that does not take it is an answer without what the node is reached by', async () => {
  const { status, body } = await pay(payment);
  expect([status, body.hint]).toEqual([503, expect.stringContaining('The node has not taken the payment')]);
  expect(JSON.stringify(body)).not.toContain('127.0.0.1');
  expect(asked).toBeGreaterThan(0);
});
