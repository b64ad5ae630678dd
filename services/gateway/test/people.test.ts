import { describe, expect, test } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import { removeAsOperator, resetAsOperator } from '../src/operations/operators-people.ts';
import { bytesOf, newToken, sendRaw } from './gateway-fixture.ts';
import { anEmail, cookieIn, dataOf, openPeople, PASSWORD } from './people-fixture.ts';

const people = await openPeople();
const { url, gateway, db, asAdmin, accept, by, signIn, invited, someone, signedIn, acts } = people;
const ports = { db, clock: systemClock };

describe('an invitation', () => {
  test('makes a person who can sign in, once, also when it is accepted twice at once', async () => {
    const { account } = await newToken(url);
    const email = anEmail();
    const body = {
      token: await invited(account, ` ${email.toUpperCase()} `, 'owner'),
      name: 'Anna',
      password: PASSWORD,
    };
    const answers = await Promise.all(Array.from({ length: 6 }, () => accept(body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404, 404, 404]);
    expect((await accept(body)).status).toBe(404);
    const answer = await signIn(email);
    expect(answer).toMatchObject({
      status: 201,
      body: { data: { email, name: 'Anna', role: 'owner', scopes: null, account_id: account } },
    });
    expect(await acts(account)).toMatchObject([
      { action: 'account.created' },
      { action: 'token.created' },
      { actor: 'ops', action: 'person.invited' },
      { actor: `person ${dataOf(answer).id}`, source: '127.0.0.1', action: 'person.joined' },
      { actor: `person ${dataOf(answer).id}`, action: 'session.began', subject: dataOf(answer).session_id },
    ]);
    const stored = await db.one<{ text: string }>(
      `select (select string_agg(p::text, '') from people p) || (select string_agg(s::text, '') from sessions s)
         || (select string_agg(i::text, '') from invitations i) as text`,
    );
    for (const secret of [PASSWORD, body.token, cookieIn(answer)]) expect(stored.text).not.toContain(secret);
  });

  test('is refused when it has expired, was withdrawn by a later one, or is unknown', async () => {
    const { account } = await newToken(url);
    const email = anEmail();
    const former = await invited(account, email, 'viewer');
    const later = await invited(account, email, 'viewer');
    const given = { name: 'Anna', password: PASSWORD };
    for (const token of [former, 'qi_unknown']) expect((await accept({ token, ...given })).status).toBe(404);
    // What the role of the gateway may not do.
    await asAdmin.rows(
      `update gateway.invitations set expires_at = now() where email = $1 and used_at is null`,
      [email],
    );
    expect((await accept({ token: later, ...given })).status).toBe(404);
  });

  test.each([
    ['short', 'elevenchars', 'The password must be at least 12 characters.'],
    ['common', 'Qwerty123456', 'The password is too common.'],
    [
      'with the name of the address',
      'so ANNA-MARIA it is',
      'The password must not contain the name of the e-mail address.',
    ],
    ['long', 'ab'.repeat(65), 'The password must not be greater than 128 characters.'],
  ])('refuses a password that is %s, and can be used afterwards', async (_what, password, message) => {
    const { account } = await newToken(url);
    const email = `anna-maria@${Math.random().toString(36).slice(2)}.example`;
    const token = await invited(account, email, 'viewer');
    const refused = await accept({ token, name: 'Anna', password });
    expect(refused).toMatchObject({ status: 422, body: { errors: { password: [message] } } });
    expect((await accept({ token, name: 'Anna', password: PASSWORD })).status).toBe(201);
  });

  test('of somebody who has a password is accepted with a session of this person alone', async () => {
    const [anna, eve] = [await someone(), await someone()];
    const { account } = await newToken(url);
    const token = await invited(account, anna.email, 'accountant');
    const given = { token, name: 'Eve', password: 'another long password' };
    expect((await accept(given)).status).toBe(409);
    expect((await by(eve.cookie, 'POST', '/api/invitations/accept', given)).status).toBe(409);
    expect((await signIn(anna.email, given.password)).status).toBe(401);
    expect((await by(anna.cookie, 'POST', '/api/invitations/accept', { token })).status).toBe(201);
    const there = await signIn(anna.email, PASSWORD, { account_id: account });
    expect(dataOf(there)).toMatchObject({ role: 'accountant', account_id: account });
    expect(dataOf(there).accounts).toHaveLength(2);
    expect((await signIn(anna.email, PASSWORD, { account_id: eve.account })).status).toBe(422);
  });
});

describe('a reset by the operator', () => {
  test('ends all sessions and takes the password away until a new one is set with the token', async () => {
    const anna = await someone();
    const reset = await resetAsOperator(ports, { email: anna.email, actor: 'ops' });
    if (!reset.ok) throw new Error(reset.refusal);
    expect((await by(anna.cookie, 'GET', '/api/me')).status).toBe(401);
    expect((await signIn(anna.email)).status).toBe(401);
    const { token } = reset.value;
    expect((await accept({ token, password: 'a quite new password' })).status).toBe(201);
    expect((await signIn(anna.email, 'a quite new password')).status).toBe(201);
    expect((await signIn(anna.email)).status).toBe(401);
    expect((await resetAsOperator(ports, { email: anEmail(), actor: 'ops' })).ok).toBe(false);
  });
});

describe('the people of an account', () => {
  test('are listed, invited, changed and removed by its owner, and all of it is in the audit log', async () => {
    const anna = await someone();
    const email = anEmail();
    const made = await by(anna.cookie, 'POST', '/api/invitations', { email, role: 'viewer' });
    expect(made.status).toBe(201);
    const { id, token } = dataOf(made);
    expect(dataOf(await by(anna.cookie, 'GET', '/api/invitations'))).toMatchObject([{ id, email }]);
    expect((await accept({ token, name: 'Ben', password: PASSWORD })).status).toBe(201);
    expect(dataOf(await by(anna.cookie, 'GET', '/api/invitations'))).toEqual([]);
    const ben = await signedIn(email);
    expect(dataOf(await by(anna.cookie, 'GET', '/api/people'))).toMatchObject([
      { id: anna.id, role: 'owner' },
      { id: ben.id, role: 'viewer', email },
    ]);
    const changed = await by(anna.cookie, 'PATCH', `/api/people/${ben.id}`, { role: 'admin' });
    expect([changed.status, dataOf(changed).role]).toEqual([200, 'admin']);
    expect((await by(ben.cookie, 'GET', '/api/me')).status).toBe(401);
    const again = await signedIn(email);
    expect((await by(anna.cookie, 'DELETE', `/api/people/${ben.id}`)).status).toBe(200);
    expect((await by(again.cookie, 'GET', '/api/me')).status).toBe(401);
    expect((await signIn(email)).status).toBe(401);
    const actor = `person ${anna.id}`;
    expect((await acts(anna.account)).filter((one) => one.actor === actor)).toMatchObject([
      { action: 'person.joined' },
      { action: 'session.began' },
      { action: 'person.invited', subject: id, source: '127.0.0.1' },
      { action: 'person.role_changed', subject: ben.id },
      { action: 'person.removed', subject: ben.id },
    ]);
  });

  test('keep an owner, and an admin changes no owner', async () => {
    const anna = await someone();
    const admin = await someone('admin', anna.account);
    const path = `/api/people/${anna.id}`;
    for (const [method, body] of [
      ['PATCH', { role: 'viewer' }],
      ['DELETE', undefined],
    ] as const) {
      expect((await by(admin.cookie, method, path, body)).status).toBe(403);
      expect((await by(anna.cookie, method, path, body)).status).toBe(409);
    }
    const order = { email: anEmail(), role: 'owner' };
    expect((await by(admin.cookie, 'POST', '/api/invitations', order)).status).toBe(403);
    const self = `/api/people/${admin.id}`;
    expect((await by(admin.cookie, 'PATCH', self, { role: 'owner' })).status).toBe(403);
    const removed = await removeAsOperator(ports, { account: anna.account, email: anna.email, actor: 'ops' });
    expect(removed.ok).toBe(true);
    expect((await by(anna.cookie, 'GET', '/api/me')).status).toBe(401);
  });

  test('keep an owner also when two owners remove each other at once', async () => {
    const anna = await someone();
    const ben = await someone('owner', anna.account);
    await Promise.all([
      by(anna.cookie, 'DELETE', `/api/people/${ben.id}`),
      by(ben.cookie, 'DELETE', `/api/people/${anna.id}`),
    ]);
    const { count } = await db.one<{ count: number }>(
      `select count(*)::int as count from memberships where account_id = $1 and role = 'owner'`,
      [anna.account],
    );
    expect(count).toBe(1);
  });

  test('of another account are not to be found', async () => {
    const [anna, eve] = [await someone(), await someone()];
    for (const [method, body] of [
      ['PATCH', { role: 'viewer' }],
      ['DELETE', undefined],
    ] as const)
      expect((await by(eve.cookie, method, `/api/people/${anna.id}`, body)).status).toBe(404);
    const invitation = await by(anna.cookie, 'POST', '/api/invitations', {
      email: anEmail(),
      role: 'viewer',
    });
    const path = `/api/invitations/${dataOf(invitation).id}`;
    expect((await by(eve.cookie, 'DELETE', path)).status).toBe(404);
    expect((await by(anna.cookie, 'DELETE', path)).status).toBe(200);
    expect((await accept({ token: dataOf(invitation).token, name: 'X', password: PASSWORD })).status).toBe(
      404,
    );
  });

  test('are not for API tokens', async () => {
    const { token } = await newToken(url);
    for (const path of ['/api/people', '/api/me', '/api/sessions'])
      expect(
        (await sendRaw(gateway.port, bytesOf('GET', path, [`Authorization: Bearer ${token}`]))).status,
      ).toBe(401);
  });
});

describe('a new password', () => {
  test('needs the present one, and ends all other sessions', async () => {
    const anna = await someone();
    const other = await signedIn(anna.email);
    const change = (current_password: string) =>
      by(anna.cookie, 'PUT', '/api/me/password', { current_password, password: 'a quite new password' });
    expect((await change('not the password')).status).toBe(401);
    expect((await change(PASSWORD)).status).toBe(200);
    expect((await by(other.cookie, 'GET', '/api/me')).status).toBe(401);
    expect((await by(anna.cookie, 'GET', '/api/me')).status).toBe(200);
    expect((await signIn(anna.email, 'a quite new password')).status).toBe(201);
  });
});
