import { describe, expect, test } from '@jest/globals';
import { personOperations, roleAllows, stepUpOperations } from '../src/domain/person-operations.ts';
import { roleHolds, roles } from '../src/domain/roles.ts';
import { ANY_TOKEN, scopeOfOperation } from '../src/domain/scopes.ts';
import { codeOf, cookieIn, dataOf, openPeople, PASSWORD } from './people-fixture.ts';

const { asAdmin, endStepUp, by, someone, signedIn, acts } = await openPeople();
const ID = `x_${'0'.repeat(36)}`;
const send = (cookie: string, operation: string) => {
  const [method = '', pattern = ''] = operation.split(' ');
  const body = method === 'GET' || method === 'DELETE' ? undefined : {};
  return by(cookie, method, pattern.replace(/:\w+/g, ID), body);
};

describe('a role', () => {
  const ofAccounts = Object.entries(scopeOfOperation);
  const ofPeople = Object.keys(personOperations);
  test.each(roles)('%s may call what its table says, and nothing else', async (role) => {
    const person = await someone(role);
    const wrong: unknown[] = [];
    for (const [operation, needed] of ofAccounts) {
      const { status, ...answer } = await send(person.cookie, operation);
      const isRefused = status === 403 && codeOf(answer) === 'missing_role';
      if (isRefused === (needed === ANY_TOKEN || roleHolds(role, needed))) wrong.push([operation, status]);
    }
    for (const operation of ofPeople.filter((one) => !one.startsWith('DELETE /api/sessions'))) {
      const [method = '', pattern = ''] = operation.split(' ');
      const { status, ...answer } = await send(person.cookie, operation);
      const isRefused = status === 403 && codeOf(answer) === 'missing_role';
      if (isRefused === roleAllows(role, method, pattern)) wrong.push([operation, status]);
    }
    expect(wrong).toEqual([]);
  });

  test('gives its tokens nothing beyond itself', async () => {
    const dev = await someone('developer');
    const order = (scopes?: string[]) =>
      by(dev.cookie, 'POST', '/api/tokens', { name: 'a', ...(scopes && { scopes }) });
    expect(codeOf(await order(['payouts:write']))).toBe('beyond_own_token');
    expect(dataOf(await order()).scopes).not.toContain('payouts:write');
    const owner = await someone('owner', dev.account);
    const made = await by(owner.cookie, 'POST', '/api/tokens', { name: 'a' });
    expect(dataOf(made)).toMatchObject({ scopes: null, current: false });
    expect(await acts(dev.account)).toContainEqual(
      expect.objectContaining({ actor: `person ${owner.id}`, action: 'token.created' }),
    );
    expect(codeOf(await by(dev.cookie, 'POST', `/api/tokens/${dataOf(made).id}/rotate`))).toBe(
      'beyond_own_token',
    );
  });
});

describe('a step-up', () => {
  test('is needed before each operation of the table, and before no other', async () => {
    const person = await someone('owner');
    await endStepUp(person.id);
    const all = [...Object.keys(scopeOfOperation), ...Object.keys(personOperations)];
    const refused: string[] = [];
    for (const operation of all.filter((one) => !one.startsWith('DELETE /api/sessions'))) {
      if (codeOf(await send(person.cookie, operation)) === 'step_up_needed') refused.push(operation);
    }
    expect(refused.sort()).toEqual([...stepUpOperations].sort());
    expect(refused).toEqual(
      expect.arrayContaining([
        'POST /api/tokens',
        'POST /api/tokens/:id/rotate',
        'POST /api/webhooks',
        'POST /api/webhooks/:id/rotate',
        'POST /api/address-book',
        'PUT /api/payout-policy',
        'POST /api/invitations',
        'PATCH /api/people/:id',
        'DELETE /api/people/:id',
        'PUT /api/me/password',
      ]),
    );
  });

  test('needs the right password, and gives the session another token and no longer life', async () => {
    const anna = await someone();
    await asAdmin.rows(
      `update gateway.sessions set stepped_up_at = now() - interval '11 minutes', signed_in_at = now() - interval '6 days'
       where id = $1`,
      [anna.sessionId],
    );
    const create = (cookie: string) => by(cookie, 'POST', '/api/tokens', { name: 'a' });
    expect((await create(anna.cookie)).status).toBe(403);
    const wrong = await by(anna.cookie, 'POST', '/api/session/step-up', { password: 'not the password' });
    expect([wrong.status, codeOf(wrong)]).toEqual([401, 'sign_in_failed']);
    expect((await create(anna.cookie)).status).toBe(403);
    const right = await by(anna.cookie, 'POST', '/api/session/step-up', { password: PASSWORD });
    expect(right.status).toBe(201);
    expect((await by(anna.cookie, 'GET', '/api/me')).status).toBe(401);
    const cookie = cookieIn(right);
    expect((await create(cookie)).status).toBe(201);
    const [session] = dataOf(await by(cookie, 'GET', '/api/sessions'));
    const dayLeft = new Date(session.signed_in_at).getTime() + 7 * 86_400_000;
    expect(new Date(session.signed_in_at).getTime()).toBeLessThan(Date.now() - 5 * 86_400_000);
    expect(new Date(session.expires_at).getTime()).toBeLessThanOrEqual(dayLeft);
    expect((await acts(anna.account)).map(({ action }) => action)).toContain('session.stepped_up');
  });

  test('of two at once only one takes the place of the session', async () => {
    const anna = await someone();
    const answers = await Promise.all(
      [1, 2, 3].map(() => by(anna.cookie, 'POST', '/api/session/step-up', { password: PASSWORD })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401]);
    const last = await signedIn(anna.email);
    expect(dataOf(await by(last.cookie, 'GET', '/api/sessions'))).toHaveLength(2);
  });
});
