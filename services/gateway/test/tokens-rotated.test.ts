import { describe, expect, test } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import { newTokenId } from '@quittance/shared/ids';
import { rotateToken } from '../src/operations/accounts.ts';
import { newToken, openGateways, operatorsDb } from './gateway-fixture.ts';
import { dataOf } from './people-fixture.ts';
import { HOUR_MS, later, tokenRequests } from './token-requests.ts';

/** A token that takes the place of another. */

const { url, startForAll } = await openGateways();
const db = operatorsDb(url);
const { ask, rotate, works, audit } = tokenRequests(await startForAll(), db);

describe('a token that is rotated', () => {
  test('is replaced by one with the same limits, and both are valid during the overlap', async () => {
    const expiresAt = later(48 * HOUR_MS);
    const scopes = ['invoices:read' as const];
    const owner = await newToken(url);
    const old = await newToken(url, {
      account: owner.account,
      scopes,
      allowedIps: ['127.0.0.0/8'],
      expiresAt,
    });
    const rotated = await rotate(owner.token, old.id);
    expect(rotated.status).toBe(201);
    const { token, former_token_expires_at: until, ...data } = dataOf(rotated);
    expect(data).toMatchObject({
      name: 'test',
      scopes,
      allowed_ips: ['127.0.0.0/8'],
      expires_at: expiresAt.toISOString(),
    });
    expect(Math.abs(Date.parse(until) - Date.now() - 24 * HOUR_MS)).toBeLessThan(60_000);
    expect([await works(old.token), await works(token)]).toEqual([200, 200]);
    const [, former] = dataOf(await ask(owner.token, 'GET', '/api/tokens'));
    expect(former).toMatchObject({ id: old.id, replaced_by: data.id, expires_at: until });
    await db.rows('update tokens set expires_at = now() where id = $1', [old.id]);
    expect([await works(old.token), await works(token)]).toEqual([401, 200]);
    expect((await ask(owner.token, 'GET', `/api/tokens/${old.id}`)).body).toMatchObject({
      id: old.id,
      state: 'expired',
    });
    expect(await audit(old.id)).toEqual([
      expect.objectContaining({ action: 'token.created' }),
      {
        actor: `token ${owner.id}`,
        source: '127.0.0.1',
        action: 'token.rotated',
        detail: expect.stringMatching(/^until /),
      },
    ]);
    expect((await audit(data.id))[0]?.detail).toContain(`replaces ${old.id}`);
  });

  test('may rotate itself, ends now without an overlap, and is never given more time', async () => {
    const expiresAt = later(HOUR_MS);
    const own = await newToken(url, { scopes: ['tokens:write'], expiresAt });
    const more = await rotate(own.token, own.id, { expires_at: later(2 * HOUR_MS).toISOString() });
    expect(more).toMatchObject({ status: 403, body: { code: 'beyond_own_token' } });
    const rotated = await rotate(own.token, own.id, { overlap_hours: 2 });
    expect(dataOf(rotated)).toMatchObject({
      former_token_expires_at: expiresAt.toISOString(),
      expires_at: expiresAt.toISOString(),
    });
    const next = dataOf(rotated);
    const last = dataOf(await rotate(next.token, next.id, { overlap_hours: 0 }));
    expect([await works(own.token), await works(next.token), await works(last.token)]).toEqual([
      200, 401, 200,
    ]);
  });

  test('is rotated once, also by two requests at a time', async () => {
    const owner = await newToken(url);
    const answers = await Promise.all([1, 2, 3].map(() => rotate(owner.token, owner.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const [made] = answers.filter(({ status }) => status === 201).map(dataOf);
    expect(await rotate(owner.token, owner.id)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining(made.id) },
    });
  });

  test('gives its scopes to nobody who has them not', async () => {
    const owner = await newToken(url);
    const lesser = await newToken(url, { account: owner.account, scopes: ['tokens:write'] });
    const refused = await rotate(lesser.token, owner.id);
    expect(refused).toMatchObject({ status: 403, body: { code: 'beyond_own_token' } });
    const other = await newToken(url);
    expect(await rotate(other.token, owner.id)).toMatchObject({
      status: 403,
      body: { message: 'This action is unauthorized.' },
    });
    expect((await rotate(other.token, newTokenId(new Date()))).status).toBe(404);
    expect(await works(owner.token)).toBe(200);
  });

  test('stays revoked', async () => {
    const owner = await newToken(url);
    const old = await newToken(url, { account: owner.account });
    expect((await ask(owner.token, 'DELETE', `/api/tokens/${old.id}`)).status).toBe(200);
    expect(await works(old.token)).toBe(401);
    expect((await rotate(owner.token, old.id)).status).toBe(409);
    expect((await audit(old.id)).at(-1)).toMatchObject({
      actor: `token ${owner.id}`,
      source: '127.0.0.1',
      action: 'token.revoked',
    });
  });

  test('can be rotated by the operator, who may give it more time', async () => {
    const old = await newToken(url, { expiresAt: later(HOUR_MS) });
    const expiresAt = later(90 * 24 * HOUR_MS);
    const order = { id: old.id, overlapHours: 1, expiresAt, actor: 'ann' };
    const rotated = await rotateToken({ db, clock: systemClock }, order);
    if (!rotated.ok) throw new Error(rotated.refusal);
    expect(rotated.value.token.expiresAt).toEqual(expiresAt);
    expect(await works(rotated.value.token.token)).toBe(200);
    expect(await rotateToken({ db, clock: systemClock }, order)).toEqual({ ok: false, refusal: 'replaced' });
  });
});
