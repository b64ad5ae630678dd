import { describe, expect, test } from '@jest/globals';
import { routes } from '../src/domain/routes.ts';
import { bytesOf, newToken, sendRaw, signedFor } from './gateway-fixture.ts';
import { codeOf, dataOf, openPeople, type SignedIn } from './people-fixture.ts';

/** The console of operators: who is let through, what services are told, and what the gateway itself answers. */

const people = await openPeople();
const { url, upstream, gateway, asAdmin, endStepUp, by, someone, acts, beside } = people;

const grant = (id: string) => asAdmin.rows('insert into gateway.operators (person_id) values ($1)', [id]);
async function anOperator(): Promise<SignedIn> {
  const person = await someone('viewer');
  await grant(person.id);
  return person;
}
const ofOperators = routes
  .filter(({ auth }) => auth === 'operator')
  .flatMap(({ methods, pattern }) =>
    methods.map((method) => ({ method, path: pattern.replace(/:\w+/, 'ETH') })),
  );
const send = (cookie: string, { method, path }: { method: string; path: string }, body: object = {}) =>
  by(cookie, method, path, method === 'GET' || method === 'DELETE' ? undefined : body);

describe('the routes of operators', () => {
  test('are let through for an operator alone, not for an owner, and for no token', async () => {
    const owner = await someone('owner');
    const { token } = await newToken(url);
    expect(ofOperators.length).toBeGreaterThan(10);
    for (const one of ofOperators) {
      const refused = await send(owner.cookie, one);
      expect([one, refused.status, codeOf(refused)]).toEqual([one, 403, 'missing_role']);
      const byToken = bytesOf(one.method, one.path, [`Authorization: Bearer ${token}`]);
      expect((await sendRaw(gateway.port, byToken)).status).toBe(401);
      expect((await sendRaw(gateway.port, bytesOf(one.method, one.path))).status).toBe(401);
    }
    expect(upstream.asked).toEqual([]);
    const operator = await anOperator();
    for (const one of ofOperators)
      expect([401, 403]).not.toContain((await send(operator.cookie, one)).status);
    expect(new Set(upstream.asked.map(({ path }) => path))).toEqual(
      new Set(['chains', 'payouts', 'reconciliation', 'pauses/ETH'].map((path) => `/api/operator/${path}`)),
    );
  });

  test('are closed at once to somebody who is no longer an operator', async () => {
    const operator = await anOperator();
    const me = async () => (await by(operator.cookie, 'GET', '/api/me')).body;
    const ask = async () => (await by(operator.cookie, 'GET', '/api/operator/chains')).status;
    expect([await ask(), await me()]).toEqual([200, expect.objectContaining({ operator: true })]);
    await asAdmin.rows('delete from gateway.operators where person_id = $1', [operator.id]);
    expect([await ask(), await me()]).toEqual([403, expect.objectContaining({ operator: false })]);
  });

  test('need a step-up for what changes something, which leaves the person an operator', async () => {
    const operator = await anOperator();
    await endStepUp(operator.id);
    for (const one of ofOperators) {
      const refused = codeOf(await send(operator.cookie, one)) === 'step_up_needed';
      expect([one, refused]).toEqual([one, one.method !== 'GET']);
    }
    expect(upstream.asked.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('reach a service with an assertion that says operator, and no other request does', async () => {
    const operator = await anOperator();
    await by(operator.cookie, 'PUT', '/api/operator/pauses/ETH', { reason: 'a drill' });
    await by(operator.cookie, 'GET', '/api/operator/chains');
    await by(operator.cookie, 'GET', '/api/invoices');
    const { account, id: person } = operator;
    const asOperator = { account, person, operator: true };
    const asserted = upstream.asked.flatMap(signedFor);
    expect(asserted.map(({ receiver }) => receiver)).toEqual(['auditor', 'invoices', 'invoices']);
    expect(asserted.map(({ assertion }) => assertion.identity)).toEqual([
      ...[asOperator, asOperator],
      { account, person, scopes: expect.any(Array) },
    ]);
    expect(await acts(account)).toContainEqual({
      ...{ actor: `person ${person}`, source: expect.any(String) },
      ...{ action: 'settings.change_requested', subject: 'PUT /api/operator/pauses/ETH' },
    });
  });

  test('of the auditor are not there where the settings do not name it', async () => {
    const without = await beside({ AUDITOR_URL: undefined as never });
    const operator = await without.someone('viewer');
    await grant(operator.id);
    const ask = async (path: string) => (await without.by(operator.cookie, 'GET', path)).status;
    expect([await ask('/api/operator/reconciliation'), await ask('/api/operator/chains')]).toEqual([
      404, 200,
    ]);
  });
});

describe('an operator', () => {
  test('creates an account, limits it, and invites its owner, who can sign in', async () => {
    const operator = await anOperator();
    const name = `shop ${Math.random().toString(36).slice(2)}`;
    const made = await by(operator.cookie, 'POST', '/api/operator/accounts', { name });
    expect([made.status, dataOf(made)]).toEqual([
      201,
      {
        ...{ id: expect.any(String), name, requests_per_minute: null, people: 0, tokens: 0 },
        created_at: expect.any(String),
      },
    ]);
    const again = await by(operator.cookie, 'POST', '/api/operator/accounts', { name });
    expect([again.status, (again.body as { errors: object }).errors]).toEqual([
      422,
      { name: ['The name has already been taken.'] },
    ]);
    const { id } = dataOf(made);
    const limit = (of: string, requests: unknown) =>
      by(operator.cookie, 'PATCH', `/api/operator/accounts/${of}`, { requests_per_minute: requests });
    expect(dataOf(await limit(id, 77))).toEqual({ id, requests_per_minute: 77 });
    expect([(await limit(id, 0)).status, (await limit('acc_none', 1)).status]).toEqual([422, 404]);
    const withoutField = await by(operator.cookie, 'PATCH', `/api/operator/accounts/${id}`, {});
    expect(withoutField.status).toBe(422);
    const invite = (email: string) =>
      by(operator.cookie, 'POST', `/api/operator/accounts/${id}/invitations`, { email, role: 'owner' });
    const invited = await invite('Owner@shop.example');
    expect([invited.status, dataOf(invited)]).toEqual([
      201,
      expect.objectContaining({ email: 'owner@shop.example', token: expect.stringMatching(/^qi_/) }),
    ]);
    await newToken(url, { account: id });
    // An account that is used has money: the console makes nobody its owner.
    const late = await invite('somebody@shop.example');
    expect([late.status, (late.body as { message: string }).message]).toEqual([
      409,
      expect.stringContaining(`quittance people invite --account ${id}`),
    ]);
    const listed = await by(
      operator.cookie,
      'GET',
      `/api/operator/accounts?search=${name.split(' ')[1]?.toUpperCase()}`,
    );
    expect(listed.body).toMatchObject({
      data: [{ id, name, requests_per_minute: 77, people: 0, tokens: 1 }],
      meta: { total: 1 },
    });
    expect(dataOf(await limit(id, null))).toEqual({ id, requests_per_minute: null });
    expect((await acts(id)).map(({ actor, action }) => [actor, action])).toEqual(
      expect.arrayContaining([
        [`operator ${operator.id}`, 'account.created'],
        [`operator ${operator.id}`, 'account.limit_changed'],
      ]),
    );
  });

  test('sees dead letters without their contents, and has their sender send one again, once', async () => {
    const operator = await anOperator();
    await asAdmin.rows(
      `insert into ledger.dead_letters (event_id, kind, envelope, failure) values
         ('evt_lost', 'deposit.settled', '{"secret": 1}', 'no such asset'), ('evt_unknown', 'deposit.settled', '{}', 'x')`,
    );
    await asAdmin.rows(
      `insert into invoices.outbox (id, kind, payload, created_at, sent_at, confirmed_at, confirmed_by, dead_lettered_by)
       values ('evt_lost', 'deposit.settled', '{}', now(), now(), now(), '{ledger}', '{ledger}')`,
    );
    const listed = dataOf(await by(operator.cookie, 'GET', '/api/operator/dead-letters'));
    const shown = { service: 'ledger', kind: 'deposit.settled', failed_at: expect.any(String) };
    expect(listed).toEqual([
      { ...shown, event: 'evt_lost', failure: 'no such asset', can_be_sent_again: true },
      { ...shown, event: 'evt_unknown', failure: 'x', can_be_sent_again: false },
    ]);
    const retry = (event: string, service = 'ledger') =>
      by(operator.cookie, 'POST', '/api/operator/dead-letters/retry', { service, event });
    expect((await retry('evt_unknown')).status).toBe(409);
    expect((await retry('evt_lost', 'gateway')).status).toBe(422);
    expect(dataOf(await retry('evt_lost'))).toEqual({ senders: ['invoices'] });
    expect((await retry('evt_lost')).status).toBe(404);
    expect(
      await asAdmin.rows(`select sent_at, dead_lettered_by from invoices.outbox where id = 'evt_lost'`),
    ).toEqual([{ sent_at: null, dead_lettered_by: [] }]);
    const log = dataOf(await by(operator.cookie, 'GET', '/api/operator/audit-log'));
    expect(log[0]).toMatchObject({
      ...{
        actor: `operator ${operator.id}`,
        source: '127.0.0.1',
        action: 'requeue',
        subject: 'ledger evt_lost',
      },
    });
  });
});
