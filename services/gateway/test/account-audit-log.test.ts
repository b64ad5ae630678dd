import { describe, expect, test } from '@jest/globals';
import { newToken } from './gateway-fixture.ts';
import { openPeople } from './people-fixture.ts';

const { url, asAdmin, ask, by, someone } = await openPeople();

const bearer = (token: string) => ({ headers: [`Authorization: Bearer ${token}`] });
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the API answers and asserts on it
const bodyOf = (answer: { body: unknown }) => answer.body as any;

describe('GET /api/audit-log', () => {
  test('shows an owner who did what, from where and when, newest first', async () => {
    const owner = await someone('owner');
    const shop = await newToken(url, { account: owner.account });
    await by(owner.cookie, 'PUT', '/api/payout-policy', {});
    const created = await ask('POST', '/api/tokens', { ...bearer(shop.token), body: { name: 'till' } });
    const tillId = bodyOf(created).data.id;
    const { data, meta } = bodyOf(await by(owner.cookie, 'GET', '/api/audit-log'));
    const [first, second] = data;
    expect(first).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      actor: { type: 'token', id: shop.id, name: 'test' },
      action: 'token.created',
      subject: null,
      token_id: tillId,
      detail: null,
      address: '127.0.0.1',
    });
    expect(second).toMatchObject({
      actor: { type: 'person', id: owner.id, name: 'owner' },
      action: 'settings.change_requested',
      subject: 'PUT /api/payout-policy',
    });
    // The account was created by the operator, of whom it learns neither the name nor the computer.
    expect(data.at(-1)).toMatchObject({
      actor: { type: 'operator', id: null, name: null },
      action: 'account.created',
      address: null,
    });
    expect(meta.total).toBe(data.length);
    const page = bodyOf(await by(owner.cookie, 'GET', '/api/audit-log?perPage=1&page=2'));
    expect(page.data).toEqual([second]);
    const hashes = await asAdmin.rows<{ hash: string }>(
      `select encode(hash, 'hex') as hash from gateway.audit_log where account_id = $1 order by position desc`,
      [owner.account],
    );
    expect(data.map(({ id }: { id: string }) => id)).toEqual(hashes.map(({ hash }) => hash));
  });

  test('shows nothing of another account', async () => {
    const [shop, other] = [await newToken(url), await newToken(url)];
    await ask('PUT', '/api/payout-policy', { ...bearer(other.token), body: {} });
    const { data } = bodyOf(await ask('GET', '/api/audit-log', bearer(shop.token)));
    expect(data.map(({ action }: { action: string }) => action)).toEqual([
      'token.created',
      'account.created',
    ]);
  });

  test('shows nothing that is done as an operator, and of an operator from elsewhere not the name', async () => {
    const [shop, operator] = [await someone('owner'), await someone('owner')];
    await asAdmin.rows('insert into gateway.operators (person_id) values ($1)', [operator.id]);
    await by(operator.cookie, 'PUT', '/api/operator/pauses/ETH', { reason: 'test' });
    await by(operator.cookie, 'GET', '/api/operator/nothing');
    await by(operator.cookie, 'PATCH', `/api/operator/accounts/${shop.account}`, { requests_per_minute: 7 });
    const own = bodyOf(await by(operator.cookie, 'GET', '/api/audit-log'));
    expect(JSON.stringify(own.data)).not.toContain('/api/operator');
    expect(own.meta.total).toBe(own.data.length);
    // Also when that person is no operator any more.
    await asAdmin.rows('delete from gateway.operators where person_id = $1', [operator.id]);
    const { data } = bodyOf(await by(shop.cookie, 'GET', '/api/audit-log'));
    expect(data[0]).toMatchObject({
      action: 'account.limit_changed',
      actor: { type: 'operator', id: null, name: null },
      address: null,
    });
    expect(JSON.stringify(data)).not.toContain(operator.id);
  });

  test('is all of it as a file', async () => {
    const owner = await someone('owner');
    for (let n = 0; n < 120; n++) await by(owner.cookie, 'PUT', '/api/payout-policy', {});
    const answer = await by(owner.cookie, 'GET', '/api/audit-log?format=csv');
    expect([answer.status, answer.headers.get('content-disposition')]).toEqual([
      200,
      'attachment; filename="audit-log.csv"',
    ]);
    // In chunks, of which each begins with its length.
    expect(answer.text).toContain(
      'id,created_at,actor,actor_id,actor_name,action,subject,token_id,detail,address\r\n',
    );
    expect(answer.text.match(/,settings.change_requested,PUT \/api\/payout-policy,/g)).toHaveLength(120);
    const refused = await by(owner.cookie, 'GET', '/api/audit-log?format=csv&page=2');
    expect([refused.status, Object.keys(bodyOf(refused).errors)]).toEqual([422, ['page']]);
  });
});
