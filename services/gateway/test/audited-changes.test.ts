import { expect, test } from '@jest/globals';
import { bytesOf, newToken, openGateways, operatorsDb, sendRaw } from './gateway-fixture.ts';

/** What merchants change of their settings is in the audit log, before a service hears of it. */

const { url, upstream, startForAll, asAdmin } = await openGateways();
const gateway = await startForAll({ TRUSTED_PROXIES: 'loopback' });
const db = operatorsDb(url);

async function asked(token: string, method: string, path: string, body?: object) {
  upstream.asked.length = 0;
  const headers = [`Authorization: Bearer ${token}`, 'X-Forwarded-For: 203.0.113.7'];
  const text = body === undefined ? '' : JSON.stringify(body);
  const answer = await sendRaw(gateway.port, bytesOf(method, path, headers, text));
  return {
    status: answer.status,
    requestId: answer.headers.get('x-request-id'),
    passedOn: upstream.asked.length,
  };
}

const entries = (account: string) =>
  db.rows(
    `select actor, source, token_id, subject, detail from audit_log
     where account_id = $1 and action = 'settings.change_requested' order by seq`,
    [account],
  );

test('a change of a policy and of an endpoint is written with who asked, from where, for what and in which request', async () => {
  const { account, token, id } = await newToken(url);
  const policy = await asked(token, 'PUT', '/api/payout-policy', { secret: 'of the body' });
  const rotated = await asked(token, 'POST', '/api/webhooks/whk_1/rotate?also=this');
  const read = await asked(token, 'GET', '/api/payout-policy');
  expect([policy, rotated, read]).toMatchObject([1, 2, 3].map(() => ({ status: 200, passedOn: 1 })));
  const common = { actor: `token ${id}`, source: '203.0.113.7', token_id: id };
  expect(await entries(account)).toEqual([
    { ...common, subject: 'PUT /api/payout-policy', detail: policy.requestId },
    { ...common, subject: 'POST /api/webhooks/whk_1/rotate', detail: rotated.requestId },
  ]);
});

test('a change that a token may not ask for is not written, and reaches no service', async () => {
  const { account, token } = await newToken(url, { scopes: ['policy:read'] });
  expect(await asked(token, 'PUT', '/api/payout-policy', {})).toMatchObject({ status: 403, passedOn: 0 });
  expect(await entries(account)).toEqual([]);
});

test('a change that cannot be written is answered as unavailable, and reaches no service', async () => {
  const { token } = await newToken(url);
  await asAdmin.rows('revoke insert (actor) on audit_log from quittance_gateway');
  try {
    expect(await asked(token, 'PUT', '/api/payout-policy', {})).toMatchObject({ status: 503, passedOn: 0 });
    expect(await asked(token, 'GET', '/api/payout-policy')).toMatchObject({ status: 200, passedOn: 1 });
  } finally {
    await asAdmin.rows('grant insert (actor) on audit_log to quittance_gateway');
  }
  expect(await asked(token, 'PUT', '/api/payout-policy', {})).toMatchObject({ status: 200, passedOn: 1 });
});
