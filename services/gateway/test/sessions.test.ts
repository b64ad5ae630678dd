import { describe, expect, test } from '@jest/globals';
import { SESSION_COOKIE } from '../src/domain/session.ts';
import { endStreamsOfEnded } from '../src/operations/token-upkeep.ts';
import { newToken, signedFor } from './gateway-fixture.ts';
import { codeOf, cookieIn, dataOf, openPeople, PASSWORD } from './people-fixture.ts';

const people = await openPeople();
const { url, upstream, gateway, asAdmin, ask, by, someone, signedIn, signIn, acts, beside } = people;

describe('a session', () => {
  test('acts for its account with the scopes of the role, and services learn which person it is', async () => {
    const anna = await someone('accountant');
    expect((await by(anna.cookie, 'GET', '/api/balances?a=1')).status).toBe(200);
    const [asked] = upstream.asked;
    const identity = { account: anna.account, person: anna.id };
    const signed = upstream.asked.flatMap(signedFor);
    expect(signed).toMatchObject([{ receiver: 'ledger', assertion: { identity } }]);
    expect(JSON.stringify(signed)).toContain('balances:read');
    expect(asked?.headers.cookie).toBeUndefined();
  });

  test('hides its cookie from services, and lets others through', async () => {
    const { cookie } = await someone();
    const headers = [`Cookie: a=1; ${SESSION_COOKIE}=${cookie}; b=2`];
    for (const path of ['/api/balances', '/pay/inv_1']) await ask('GET', path, { headers });
    expect(upstream.asked.map((one) => one.headers.cookie)).toEqual(['a=1; b=2', 'a=1; b=2']);
  });

  test('counts for nothing beside a token, twice, or in another form', async () => {
    const [anna, shop] = [await someone(), await newToken(url)];
    const cookie = `${SESSION_COOKIE}=${anna.cookie}`;
    const twice = [`Cookie: ${cookie}; ${cookie}`];
    const malformed = [`Cookie: ${cookie}x`];
    for (const headers of [twice, malformed, [`Cookie: ${cookie}`, 'Authorization: Bearer x']])
      expect((await ask('GET', '/api/balances', { headers })).status).toBe(401);
    const headers = [`Cookie: ${cookie}`, `Authorization: Bearer ${shop.token}`];
    const created = await ask('POST', '/api/tokens', { body: { name: 'a' }, headers });
    expect(created.status).toBe(201);
    expect(await acts(shop.account)).toMatchObject([
      { action: 'account.created' },
      { action: 'token.created' },
      { actor: `token ${shop.id}`, action: 'token.created' },
    ]);
  });

  test('is listed with where it came from, and ended by the person, at once on every gateway', async () => {
    const elsewhere = await beside();
    const anna = await someone();
    const [phone, eve] = [await signedIn(anna.email), await someone()];
    expect((await elsewhere.by(phone.cookie, 'GET', '/api/me')).status).toBe(200);
    const listed = dataOf(await by(anna.cookie, 'GET', '/api/sessions'));
    expect(listed).toHaveLength(2);
    expect(listed).toContainEqual(
      expect.objectContaining({ id: anna.sessionId, current: true, address: '127.0.0.1' }),
    );
    expect((await by(eve.cookie, 'DELETE', `/api/sessions/${phone.sessionId}`)).status).toBe(404);
    expect((await by(anna.cookie, 'DELETE', `/api/sessions/${phone.sessionId}`)).status).toBe(200);
    expect((await elsewhere.by(phone.cookie, 'GET', '/api/me')).status).toBe(401);
    const ended = await by(anna.cookie, 'DELETE', '/api/sessions/current');
    expect(ended.headers.get('set-cookie')).toMatch(/=; Max-Age=0; /);
    expect(ended.headers.get('clear-site-data')).toBe('"cache", "storage"');
    expect((await by(anna.cookie, 'GET', '/api/me')).status).toBe(401);
    expect((await acts(anna.account)).filter(({ action }) => action === 'session.ended')).toHaveLength(2);
  });

  test('ends all others of the person, and none of anybody else', async () => {
    const [anna, eve] = [await someone(), await someone()];
    const others = [await signedIn(anna.email), await signedIn(anna.email)];
    expect((await by(anna.cookie, 'DELETE', '/api/sessions')).status).toBe(200);
    for (const { cookie } of others) expect((await by(cookie, 'GET', '/api/me')).status).toBe(401);
    for (const { cookie } of [anna, eve]) expect((await by(cookie, 'GET', '/api/me')).status).toBe(200);
  });

  test.each([
    ['without a request for eight hours', `last_used_at = now() - interval '8 hours'`],
    ['after seven days', `signed_in_at = now() - interval '7 days'`],
  ])('ends %s', async (_when, change) => {
    const anna = await someone();
    await asAdmin.rows(`update gateway.sessions set ${change} where id = $1`, [anna.sessionId]);
    expect((await by(anna.cookie, 'GET', '/api/me')).status).toBe(401);
    expect(dataOf(await by((await signedIn(anna.email)).cookie, 'GET', '/api/sessions'))).toHaveLength(1);
  });

  test('goes on with each use', async () => {
    const anna = await someone();
    const minutesAgo = (minutes: number) =>
      asAdmin.rows(
        `update gateway.sessions set last_used_at = now() - $2::int * interval '1 minute' where id = $1`,
        [anna.sessionId, minutes],
      );
    await minutesAgo(479);
    expect((await by(anna.cookie, 'GET', '/api/me')).status).toBe(200);
    const { age } = await asAdmin.one<{ age: number }>(
      'select extract(epoch from now() - last_used_at)::int as age from gateway.sessions where id = $1',
      [anna.sessionId],
    );
    expect(age).toBeLessThan(3_600);
  });

  test('gets a new token with each sign-in, and the former one of the browser ends', async () => {
    const anna = await someone();
    const headers = [`Cookie: ${SESSION_COOKIE}=${anna.cookie}`, 'Origin: http://localhost'];
    const again = await signIn(anna.email, PASSWORD, {}, headers);
    expect(again.status).toBe(201);
    expect((await by(anna.cookie, 'GET', '/api/me')).status).toBe(401);
    expect((await by(cookieIn(again), 'GET', '/api/me')).status).toBe(200);
  });

  test('ends its streams when it is ended', async () => {
    const anna = await someone();
    upstream.answer((res) => {
      res.setHeader('Content-Type', 'text/event-stream');
      res.write(': hello\n\n');
    });
    const stream = by(anna.cookie, 'GET', '/api/events/stream');
    while (gateway.ports.proxy.streams.owners().length === 0)
      await new Promise((resolve) => setTimeout(resolve, 10));
    await endStreamsOfEnded(gateway.ports);
    expect(gateway.ports.proxy.streams.owners()).toEqual([anna.sessionId]);
    await by(anna.cookie, 'DELETE', '/api/sessions/current');
    await endStreamsOfEnded(gateway.ports);
    expect((await stream).status).toBe(200);
  });

  test('has its own limit of requests', async () => {
    const { by: there } = await beside({ SESSION_REQUESTS_PER_MINUTE: '3' });
    const anna = await someone();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => there(anna.cookie, 'GET', '/api/assets')),
    );
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
  });
});

describe('a request with a session', () => {
  test.each([
    ['POST', [], 403],
    ['POST', ['Origin: https://evil.example'], 403],
    ['POST', ['Origin: null'], 403],
    ['POST', ['Origin: http://localhost', 'Sec-Fetch-Site: same-site'], 403],
    ['DELETE', ['Origin: https://localhost'], 403],
    ['GET', ['Sec-Fetch-Site: cross-site'], 403],
    ['GET', ['Sec-Fetch-Site: same-site'], 403],
    ['GET', [], 200],
    ['GET', ['Sec-Fetch-Site: none'], 200],
    ['GET', ['Sec-Fetch-Site: same-origin', 'Origin: http://localhost'], 200],
    ['POST', ['Origin: http://localhost'], 200],
  ] as const)('%s with %j is answered %i', async (method, headers, status) => {
    const { cookie } = await someone();
    const path = method === 'DELETE' ? '/api/sessions' : '/api/invoices';
    const all = [`Cookie: ${SESSION_COOKIE}=${cookie}`, ...headers];
    const answer = await ask(method, path, { headers: all, ...(method === 'POST' && { body: {} }) });
    expect([answer.status, codeOf(answer)]).toEqual([status, status === 403 ? 'foreign_origin' : undefined]);
    expect(upstream.asked).toHaveLength(status === 403 ? 0 : 1);
  });

  test('matters to sessions alone: one with a token may come from any page', async () => {
    const { token } = await newToken(url);
    const headers = [
      `Authorization: Bearer ${token}`,
      'Origin: https://shop.example',
      'Sec-Fetch-Site: cross-site',
    ];
    expect((await ask('POST', '/api/invoices', { headers, body: {} })).status).toBe(200);
  });
});
