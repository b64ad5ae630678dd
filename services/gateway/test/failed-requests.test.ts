import { describe, expect, test } from '@jest/globals';
import { deleteOldFailedRequests, writeFailedRequests } from '../src/operations/failed-requests.ts';
import { newToken, startTestGateway } from './gateway-fixture.ts';
import { openPeople, peopleOf } from './people-fixture.ts';

const { url, db, upstream, gateway, asAdmin, ask, by, someone, beside } = await openPeople();

const bearer = (token: string) => ({ headers: [`Authorization: Bearer ${token}`] });
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the API answers and asserts on it
async function listed(token: string, query = ''): Promise<any> {
  await writeFailedRequests(gateway.ports);
  const answer = await ask('GET', `/api/requests${query}`, bearer(token));
  expect(answer.status).toBe(200);
  return answer.body;
}

describe('a request that fails', () => {
  test('is listed with what a developer needs, and without its query and its body', async () => {
    const shop = await newToken(url);
    upstream.answer((res) => {
      res.statusCode = 422;
      res.setHeader('Link', '<http://localhost/docs/errors#invalid_request>; rel="help"');
      res.end('{"message":"secret of the answer","code":"invalid_request"}');
    });
    const wrong = { ...bearer(shop.token), body: { key: 'secret of the body' } };
    const refused = await ask('POST', '/api/invoices?key=secret', wrong);
    upstream.answer((res) => res.end('{"ok":true}'));
    expect((await ask('GET', '/api/invoices', bearer(shop.token))).status).toBe(200);
    const { data, meta } = await listed(shop.token);
    expect(data).toEqual([
      {
        id: refused.headers.get('x-request-id'),
        created_at: expect.stringMatching(/Z$/),
        method: 'POST',
        path: '/api/invoices',
        status: 422,
        code: 'invalid_request',
        token_id: shop.id,
        person_id: null,
        person_name: null,
        address: '127.0.0.1',
      },
    ]);
    expect(meta.total).toBe(1);
    const rows = await asAdmin.rows('select * from gateway.failed_requests where account_id = $1', [
      shop.account,
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/secret|qt_/);
  });

  test('is listed when the gateway itself refused it, and of a person with the name', async () => {
    const owner = await someone('viewer');
    const shop = await newToken(url, { account: owner.account });
    await by(owner.cookie, 'POST', '/api/payouts', {});
    const narrow = await newToken(url, { account: owner.account, scopes: ['invoices:read'] });
    await ask('GET', '/api/balances', bearer(narrow.token));
    await ask('GET', '/api/tokens/tok_0', bearer(shop.token));
    const { data } = await listed(shop.token);
    expect(data).toMatchObject([
      { path: '/api/tokens/tok_0', status: 404, code: 'not_found', token_id: shop.id },
      { path: '/api/balances', status: 403, code: 'missing_scope', token_id: narrow.id, person_id: null },
      {
        path: '/api/payouts',
        code: 'missing_role',
        token_id: null,
        person_id: owner.id,
        person_name: 'viewer',
      },
    ]);
    // The newest first, in pages.
    const second = await listed(shop.token, '?perPage=1&page=2');
    expect(second.data).toEqual([data[1]]);
    expect(second.links.next).toBe('http://localhost/api/requests?perPage=1&page=3');
  });

  test('is listed by every replica, and in no other account', async () => {
    const [shop, other] = [await newToken(url), await newToken(url)];
    const elsewhere = await beside();
    await elsewhere.ask('GET', '/api/tokens/tok_0', bearer(shop.token));
    await writeFailedRequests(elsewhere.gateway.ports);
    expect((await listed(shop.token)).data).toHaveLength(1);
    expect((await listed(other.token)).data).toEqual([]);
  });

  test('is written when its gateway stops', async () => {
    const shop = await newToken(url);
    const stopping = await startTestGateway(url, upstream.url);
    await stopping.ready;
    const elsewhere = peopleOf({ port: stopping.port, url, db });
    await elsewhere.ask('GET', '/api/tokens/tok_0', bearer(shop.token));
    await stopping.stop();
    expect((await listed(shop.token)).data).toHaveLength(1);
  });

  test('of an operator is no business of the account', async () => {
    const operator = await someone('owner');
    await asAdmin.rows('insert into gateway.operators (person_id) values ($1)', [operator.id]);
    expect((await by(operator.cookie, 'PUT', '/api/operator/pauses/NONE', {})).status).toBe(200);
    upstream.answer((res) => {
      res.statusCode = 404;
      res.end();
    });
    expect((await by(operator.cookie, 'GET', '/api/operator/chains')).status).toBe(404);
    expect((await by(operator.cookie, 'GET', '/api/balances')).status).toBe(404);
    const { token } = await newToken(url, { account: operator.account });
    const { data } = await listed(token);
    expect(data.map(({ path }: { path: string }) => path)).toEqual(['/api/balances']);
  });

  test('without a valid token is nobody’s', async () => {
    const counted = () => asAdmin.one('select count(*) as n from gateway.failed_requests');
    await writeFailedRequests(gateway.ports);
    const before = await counted();
    await ask('GET', '/api/balances');
    await ask('GET', '/api/balances', bearer(`qt_${'0'.repeat(49)}`));
    await ask('GET', '/pay/inv_1');
    await writeFailedRequests(gateway.ports);
    expect(await counted()).toEqual(before);
  });
});

describe('what is kept', () => {
  const fill = (account: string, count: number, at = 'now()') =>
    asAdmin.rows(
      `insert into gateway.failed_requests (id, account_id, at, method, path, status, actor)
       select 'req_' || $1 || lpad(n::text, 5, '0'), $1, ${at}, 'GET', '/api/x', 404, 'tok_1'
       from generate_series(1, $2::int) n`,
      [account, count],
    );
  const idsOf = async (account: string) =>
    (
      await asAdmin.rows<{ id: string }>(
        'select id from gateway.failed_requests where account_id = $1 order by id',
        [account],
      )
    ).map(({ id }) => id);

  test('of an account are the newest thousand', async () => {
    const [shop, other] = [await newToken(url), await newToken(url)];
    await fill(shop.account, 1_500);
    await fill(other.account, 1_500);
    await ask('GET', '/api/tokens/tok_0', bearer(shop.token));
    await listed(shop.token);
    const ids = await idsOf(shop.account);
    expect(ids).toHaveLength(1_000);
    // Those of the test have greater ids than the real one, whose id begins with its time.
    expect(ids.at(-1)).toBe(`req_${shop.account}01500`);
    expect(await idsOf(other.account)).toHaveLength(1_500);
  });

  test('are those of thirty days', async () => {
    const shop = await newToken(url);
    await fill(shop.account, 3, "now() - interval '31 days'");
    await ask('GET', '/api/tokens/tok_0', bearer(shop.token));
    expect((await listed(shop.token)).data).toHaveLength(4);
    while ((await deleteOldFailedRequests(gateway.ports)) > 0);
    expect((await listed(shop.token)).data).toHaveLength(1);
  });
});
