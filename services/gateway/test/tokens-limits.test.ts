import { connect } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { newTokenId } from '@quittance/shared/ids';
import { writeTokenUses } from '../src/operations/token-upkeep.ts';
import { bytesOf, newToken, openGateways, operatorsDb, type Raw, sendRaw } from './gateway-fixture.ts';
import { dataOf } from './people-fixture.ts';
import { HOUR_MS, later, tokenRequests } from './token-requests.ts';

/** The list of addresses, and what a token can give to another. */

const { url, upstream, startForAll, start } = await openGateways();
// The tests are the proxy: they say who the client is.
const gateway = await startForAll({ TRUSTED_PROXIES: 'loopback' });
const db = operatorsDb(url);

const { ask, create, works, audit } = tokenRequests(gateway, db);
const AT_ONCE = [1, 2, 3, 4, 5, 6, 7, 8];
const from = (address: string) => [`X-Forwarded-For: ${address}`];

test('a token that is revoked while its body comes does nothing any more', async () => {
  const { token, id } = await newToken(url);
  const body = JSON.stringify({ asset: 'ETH' });
  const head = bytesOf('POST', '/api/payouts', [`Authorization: Bearer ${token}`], body).slice(0, -1);
  const socket = connect(gateway.port, '127.0.0.1');
  const answered = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
  socket.write(head);
  // More than half a second after the token was looked up, which a busy machine does late.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await db.rows('update tokens set revoked_at = now() where id = $1', [id]);
  socket.write(body.slice(-1));
  expect(await answered).toMatch(/^HTTP\/1\.1 401 /);
  expect(upstream.asked).toEqual([]);
  socket.destroy();
});

describe('the list of addresses of a token', () => {
  test('lets in its addresses, also as IPv4 in IPv6, and no other', async () => {
    const allowedIps = ['203.0.113.0/24', '2001:db8::/48'];
    const { token } = await newToken(url, { allowedIps });
    const status = async (address: string) =>
      (await ask(token, 'GET', '/api/assets', undefined, from(address))).status;
    for (const address of ['203.0.113.7', '::ffff:203.0.113.7', '2001:db8::1', '[2001:db8::1]:443'])
      expect([address, await status(address)]).toEqual([address, 200]);
    for (const address of ['203.0.114.7', '::ffff:203.0.114.7', '2001:db8:1::1', '127.0.0.1'])
      expect([address, await status(address)]).toEqual([address, 403]);
  });

  test('says by a code of its own why it refuses, counts nothing for the token, and is no use of it', async () => {
    const limited = await start({
      TRUSTED_PROXIES: 'loopback',
      RATE_LIMIT_PER_MINUTE: '2',
      FAILED_AUTH_PER_MINUTE: '3',
    });
    const { token, id } = await newToken(url, { allowedIps: ['203.0.113.7/32'] });
    const of = (address: string) =>
      sendRaw(
        limited.port,
        bytesOf('GET', '/api/assets', [`Authorization: Bearer ${token}`, ...from(address)]),
      );
    expect((await of('203.0.113.7')).status).toBe(200);
    const refused = await of('198.51.100.7');
    expect(refused).toMatchObject({
      status: 403,
      body: { message: 'The API token may not be used from 198.51.100.7.', code: 'address_not_allowed' },
    });
    expect(refused.headers.get('x-error-code')).toBe('address_not_allowed');
    const others = [await of('198.51.100.7'), await of('198.51.100.7'), await of('198.51.100.7')];
    expect(others.map(({ status }) => status)).toEqual([403, 403, 429]);
    expect((await of('203.0.113.7')).status).toBe(200);
    await writeTokenUses(limited.ports);
    const [use] = await db.rows('select last_used_ip from tokens where id = $1', [id]);
    expect(use).toEqual({ last_used_ip: '203.0.113.7' });
  });
});

describe('a token that creates another', () => {
  test('gets it once, and the audit log says by what', async () => {
    const owner = await newToken(url);
    const expiresAt = later(HOUR_MS).toISOString();
    const made = await create(owner.token, {
      scopes: ['invoices:write', 'tokens:read'],
      allowed_ips: ['127.0.0.1', '2001:DB8::/48'],
      expires_at: expiresAt,
    });
    expect(made.status).toBe(201);
    const { token, ...data } = dataOf(made);
    expect(data).toMatchObject({
      name: 'made',
      hint: token.slice(-4),
      state: 'active',
      current: false,
      scopes: ['invoices:write', 'tokens:read'],
      allowed_ips: ['127.0.0.1/32', '2001:db8::/48'],
      expires_at: expiresAt,
      last_used_at: null,
    });
    expect(await works(token)).toBe(200);
    const listed = await ask(token, 'GET', '/api/tokens?perPage=1');
    expect(dataOf(listed)).toEqual([{ ...data, current: true, last_used_at: null }]);
    expect((listed.body as { meta: object }).meta).toMatchObject({ total: 2, per_page: 1 });
    const read = await ask(owner.token, 'GET', `/api/tokens/${data.id}`);
    expect([read.status, read.body]).toEqual([200, { ...data, last_used_at: null }]);
    for (const { text } of [listed, read]) expect(text).not.toContain(token);
    expect(await audit(data.id)).toEqual([
      {
        actor: `token ${owner.id}`,
        source: '127.0.0.1',
        action: 'token.created',
        detail: expect.stringMatching(
          /^scopes invoices:write tokens:read; from 127\.0\.0\.1\/32 2001:db8::\/48; until \d{4}-.*Z$/,
        ),
      },
    ]);
  });

  test('creates none for a body that has a key twice, and says where', async () => {
    const { token } = await newToken(url);
    const body = '{"name":"till","scopes":["invoices:read"],"\\u0073copes":["payouts:write"]}';
    const headers = [`Authorization: Bearer ${token}`];
    expect(await sendRaw(gateway.port, bytesOf('POST', '/api/tokens', headers, body))).toMatchObject({
      status: 422,
      body: {
        errors: { name: ['The name field is required.'] },
        hint: 'The body has a key twice in one object: line 1, column 43.',
      },
    });
  });

  test('gives it what it has where the request says nothing', async () => {
    const expiresAt = later(HOUR_MS);
    const owner = await newToken(url, { scopes: ['tokens:write'], allowedIps: ['127.0.0.0/8'], expiresAt });
    expect(dataOf(await create(owner.token, {}))).toMatchObject({
      scopes: ['tokens:write'],
      allowed_ips: ['127.0.0.0/8'],
      expires_at: expiresAt.toISOString(),
    });
  });

  test.each<[string, object, string]>([
    ['a scope', { scopes: ['tokens:write', 'payouts:write'] }, 'not the scope payouts:write'],
    ['other addresses', { allowed_ips: ['127.0.0.0/8', '10.0.0.1'] }, 'not be used from 10.0.0.1/32'],
    ['more time', { expires_at: later(3 * HOUR_MS).toISOString() }, 'expires at'],
  ])('cannot give it %s that it has not itself', async (_what, wanted, message) => {
    const owner = await newToken(url, {
      scopes: ['tokens:write', 'invoices:read'],
      allowedIps: ['127.0.0.0/8'],
      expiresAt: later(2 * HOUR_MS),
    });
    const refused = await create(owner.token, wanted);
    expect(refused).toMatchObject({ status: 403, body: { code: 'beyond_own_token' } });
    expect((refused.body as { message: string }).message).toContain(message);
    expect(refused.headers.get('x-error-code')).toBe('beyond_own_token');
    const [count] = await db.rows('select count(*)::int as n from tokens where account_id = $1', [
      owner.account,
    ]);
    expect(count).toEqual({ n: 1 });
  });

  test.each<[object, string]>([
    [{ name: '' }, 'name'],
    [{ name: 'two\nlines' }, 'name'],
    [{ scopes: ['payouts:delete'] }, 'scopes.0'],
    [{ scopes: [] }, 'scopes'],
    [{ allowed_ips: ['203.0.113.7', '10.0.0.1/8'] }, 'allowed_ips.1'],
    [{ allowed_ips: 'loopback' }, 'allowed_ips'],
    [{ expires_at: '2020-01-01' }, 'expires_at'],
    [{ scope: ['payouts:read'] }, 'scope'],
  ])('is told what is wrong with %j', async (wanted, field) => {
    const { token } = await newToken(url);
    const refused = await create(token, wanted);
    expect(refused.status).toBe(422);
    expect(Object.keys((refused.body as { errors: object }).errors)).toEqual([field]);
  });

  test('creates one for each Idempotency-Key, and the second answer names it without showing it', async () => {
    const owner = await newToken(url);
    const key = ['Idempotency-Key: first'];
    const answers = await Promise.all(AT_ONCE.map(() => create(owner.token, {}, key)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...AT_ONCE.slice(1).map(() => 409)]);
    const made = dataOf(answers.find(({ status }) => status === 201) as Raw);
    const again = await create(owner.token, { name: 'another' }, key);
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(again.text).toContain(made.id);
    expect(again.text).not.toContain(made.token);
    expect((await create((await newToken(url)).token, {}, key)).status).toBe(201);
    const stored = await db.one<{ text: string }>(`select string_agg(t::text, '') as text from tokens t`);
    expect(stored.text).not.toContain(made.token.slice(3, 20));
  });

  test('ends at a limit of tokens', async () => {
    const owner = await newToken(url);
    await db.rows(
      `insert into tokens (id, account_id, name, hash, hint, created_at)
       select $1 || n, $2, 'many', sha256(($1 || n)::bytea), 'xxxx', now() - interval '2 days' from generate_series(1, 98) n`,
      [newTokenId(new Date()), owner.account],
    );
    const answers = await Promise.all(AT_ONCE.map(() => create(owner.token, {})));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...AT_ONCE.slice(1).map(() => 409)]);
    const refused = await create(owner.token, {});
    expect(refused).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('100 valid tokens') },
    });
    await db.rows(`update tokens set revoked_at = now() where account_id = $1 and name = 'many'`, [
      owner.account,
    ]);
    expect((await create(owner.token, {})).status).toBe(201);
  });
});
