import { describe, expect, test } from '@jest/globals';
import { SESSION_COOKIE } from '../src/domain/session.ts';
import { newToken } from './gateway-fixture.ts';
import { codeOf, cookieIn, dataOf, ORIGIN, openPeople, PASSWORD } from './people-fixture.ts';

const { url, upstream, ask, someone, invited, signIn, acts } = await openPeople();

const of = (account: string) => `Quittance-Account: ${account}`;
const session = (cookie: string) => [`Cookie: ${SESSION_COOKIE}=${cookie}`, `Origin: ${ORIGIN}`];
const isRefused = { status: 409, body: { code: 'other_account' } };

describe('a request that names its account', () => {
  test('is carried out for it, and for no other when a session began in another window', async () => {
    const [anna, other] = [await someone('admin'), await someone('owner')];
    const token = await invited(other.account, anna.email, 'viewer');
    const join = { body: { token }, headers: session(anna.cookie) };
    expect((await ask('POST', '/api/invitations/accept', join)).status).toBe(201);
    const switched = await signIn(anna.email, PASSWORD, { account_id: other.account }, session(anna.cookie));
    const cookie = cookieIn(switched);
    expect(dataOf(switched).account_id).toBe(other.account);

    const headers = [...session(cookie), of(anna.account)];
    // Refused for the account, and not because a viewer may not do it.
    const writes = [
      'POST /api/payouts',
      'PUT /api/payout-policy',
      'POST /api/tokens',
      'POST /api/invitations',
    ];
    for (const operation of [...writes, 'GET /api/balances', 'GET /api/me', 'DELETE /api/sessions/current']) {
      const [method = '', path = ''] = operation.split(' ');
      expect([operation, await ask(method, path, { headers })]).toMatchObject([operation, isRefused]);
    }
    expect(upstream.asked).toEqual([]);
    expect((await acts(other.account)).map(({ action }) => action)).not.toContain(
      'settings.change_requested',
    );

    const right = [...session(cookie), of(other.account)];
    expect((await ask('GET', '/api/balances', { headers: right })).status).toBe(200);
    expect((await ask('GET', '/api/me', { headers: right })).status).toBe(200);
    expect(upstream.asked.map((one) => one.headers['quittance-account'])).toEqual([undefined]);
  });

  test('is compared with the account of an API token too', async () => {
    const [shop, other] = [await newToken(url), await newToken(url)];
    const by = (account: string) => [`Authorization: Bearer ${shop.token}`, of(account)];
    expect((await ask('GET', '/api/balances', { headers: by(shop.account) })).status).toBe(200);
    expect(await ask('GET', '/api/balances', { headers: by(other.account) })).toMatchObject(isRefused);
    expect(upstream.asked).toHaveLength(1);
  });

  test.each([
    ['an empty text', () => ['Quittance-Account:']],
    ['two accounts', (account: string) => [of(account), of('acc_2')]],
    ['its account in another case', (account: string) => [of(account.toUpperCase())]],
  ])('is refused with %s', async (_, headersOf) => {
    const anna = await someone();
    const headers = [...session(anna.cookie), ...headersOf(anna.account)];
    expect(codeOf(await ask('GET', '/api/balances', { headers }))).toBe('other_account');
    expect(upstream.asked).toEqual([]);
  });

  test('learns nothing without a session: whether an account is right is for those who are let in', async () => {
    const { account } = await newToken(url);
    for (const named of [account, 'acc_x'])
      expect((await ask('GET', '/api/balances', { headers: [of(named)] })).status).toBe(401);
  });

  test('does not keep anybody from signing in for another account', async () => {
    const [anna, other] = [await someone(), await newToken(url)];
    expect((await signIn(anna.email, PASSWORD, {}, [of(other.account)])).status).toBe(201);
  });
});
