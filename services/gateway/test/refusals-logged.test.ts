import { expect, test } from '@jest/globals';
import { createLogger } from '@quittance/shared/logger';
import { bytesOf, newToken, openGateways, operatorsDb, sendRaw } from './gateway-fixture.ts';

/** What an operator can see of somebody who tries tokens, or uses one for what it is not for. */

const { url, start } = await openGateways();

type Line = { level: string; msg: string } & Record<string, unknown>;

async function gatewayWithLog(settings: Record<string, string> = {}) {
  const lines: Line[] = [];
  const logger = createLogger('gateway', 'info', { write: (line) => lines.push(JSON.parse(line) as Line) });
  const gateway = await start({ TRUSTED_PROXIES: 'loopback', ...settings }, { logger });
  const ask = (token: string, address: string, method = 'GET', path = '/api/assets') =>
    sendRaw(
      gateway.port,
      bytesOf(method, path, [`Authorization: Bearer ${token}`, `X-Forwarded-For: ${address}`], ''),
    );
  const refusals = () => lines.filter(({ msg }) => msg.startsWith('an API token was used'));
  return { ask, refusals, text: () => JSON.stringify(lines) };
}

test('a token that is not valid is logged with the address of its client, once for many requests, and never the token', async () => {
  const { ask, refusals, text } = await gatewayWithLog();
  const { token, id } = await newToken(url);
  await operatorsDb(url).rows('update tokens set revoked_at = now() where id = $1', [id]);
  for (const address of ['203.0.113.7', '203.0.113.7', '203.0.113.7', '203.0.113.8'])
    expect((await ask(token, address)).status).toBe(401);
  expect(refusals()).toMatchObject([
    { msg: expect.stringContaining('unknown, revoked or expired'), address: '203.0.113.7' },
    { msg: expect.stringContaining('unknown, revoked or expired'), address: '203.0.113.8' },
  ]);
  expect(text()).not.toContain(token);
});

test('a token from another address, and one without the scope, are logged with their ids and what was asked', async () => {
  const { ask, refusals } = await gatewayWithLog();
  const elsewhere = await newToken(url, { allowedIps: ['203.0.113.0/24'] });
  expect((await ask(elsewhere.token, '198.51.100.9')).status).toBe(403);
  const reader = await newToken(url, { scopes: ['invoices:read'] });
  expect((await ask(reader.token, '203.0.113.7', 'DELETE', '/api/webhooks/whk_1')).status).toBe(403);
  expect(refusals()).toMatchObject([
    { level: 'warn', token_id: elsewhere.id, address: '198.51.100.9' },
    { token_id: reader.id, account: reader.account, operation: 'DELETE /api/webhooks/:id' },
  ]);
});

test('a gateway that is reached by https tells browsers to use nothing else, on every answer', async () => {
  const policy = 'strict-transport-security';
  const headers = async (publicUrl: string) => {
    const gateway = await start({ PUBLIC_URL: publicUrl });
    const paths = ['/healthz', '/api/assets', '/pay/nothing', '/docs', '/nothing'];
    const answers = await Promise.all(
      paths.map((path) => sendRaw(gateway.port, bytesOf('GET', path, [], ''))),
    );
    return answers.map((answer) => answer.headers.get(policy));
  };
  const found = await headers('https://pay.example.com');
  // The first is for the machine that the gateway runs on.
  expect(found.slice(1)).toEqual(Array.from({ length: 4 }, () => 'max-age=31536000'));
  expect(await headers('http://localhost')).toEqual(Array.from({ length: 5 }, () => undefined));
});
