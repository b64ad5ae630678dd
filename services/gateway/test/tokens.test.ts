import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import {
  createAccount,
  createToken,
  listAccounts,
  listTokens,
  revokeToken,
} from '../src/operations/accounts.ts';
import { writeTokenUses } from '../src/operations/token-upkeep.ts';
import { bytesOf, newToken, openGateways, operatorsDb, sendRaw } from './gateway-fixture.ts';

const { url, upstream, startForAll } = await openGateways();
const gateway = await startForAll();
const db = operatorsDb(url);

const ports = { db, clock: systemClock };
const ask = (token: string) =>
  sendRaw(gateway.port, bytesOf('GET', '/api/assets', [`Authorization: Bearer ${token}`]));
const aName = () => `shop ${Math.random().toString(36).slice(2)}`;
const audit = (column: string, id: string) =>
  db.rows<{ actor: string; action: string }>(
    `select actor, action from audit_log where ${column} = $1 order by seq`,
    [id],
  );

async function anAccount(): Promise<string> {
  const made = await createAccount(ports, { name: aName(), actor: 'ann' });
  if (!made.ok) throw new Error(made.refusal);
  return made.value.id;
}

describe('accounts', () => {
  test('have an id, a unique name of one line that is like no id, and a line in the audit log', async () => {
    const name = aName();
    const made = await createAccount(ports, { name: ` ${name} `, actor: 'ann' });
    expect(made).toMatchObject({
      ok: true,
      value: { id: expect.stringMatching(/^acc_[0-9a-z]{36}$/), name },
    });
    if (!made.ok) return;
    expect(await listAccounts(ports)).toContainEqual(made.value);
    expect(await audit('account_id', made.value.id)).toEqual([{ actor: 'ann', action: 'account.created' }]);
    for (const [wrong, refusal] of [
      [name, 'name_taken'],
      ['two\nlines', 'name_invalid'],
      ['acc_like_an_id', 'name_invalid'],
    ] as const)
      expect(await createAccount(ports, { name: wrong, actor: 'ann' })).toEqual({ ok: false, refusal });
  });

  test('made twice at once under one name are made once', async () => {
    const name = aName();
    const made = await Promise.all(
      Array.from({ length: 8 }, () => createAccount(ports, { name, actor: 'ann' })),
    );
    expect(made.filter(({ ok }) => ok)).toHaveLength(1);
  });
});

describe('tokens', () => {
  const aToken = async (account: string, name: string, expiresAt: Date | null = null) => {
    const made = await createToken(ports, { account, name, expiresAt, actor: 'ann' });
    if (!made.ok) throw new Error(made.refusal);
    return made.value;
  };

  test('are shown once: the database keeps a hash and four characters', async () => {
    const account = await anAccount();
    const { id, token, hint } = await aToken(account, 'till');
    const stored = await db.one<{ hash: Buffer }>('select * from tokens where id = $1', [id]);
    expect(stored.hash).toEqual(createHash('sha256').update(token).digest());
    expect(stored).toMatchObject({ hint: token.slice(-4), name: 'till', account_id: account });
    expect(hint).toBe(token.slice(-4));
    const all = await db.one<{ text: string }>(
      `select (select string_agg(t::text, '') from tokens t) || (select string_agg(l::text, '') from audit_log l) as text`,
    );
    expect(all.text).not.toContain(token.slice(3, 20));
    expect((await ask(token)).status).toBe(200);
    expect(await audit('token_id', id)).toEqual([{ actor: 'ann', action: 'token.created' }]);
  });

  test('are made for an account that is there, by id or name, with a name and a time to come', async () => {
    const name = aName();
    await createAccount(ports, { name, actor: 'ann' });
    const order = { account: name, name: 'till', expiresAt: null, actor: 'ann' };
    expect(await createToken(ports, order)).toMatchObject({ ok: true, value: { accountName: name } });
    for (const [wrong, refusal] of [
      [{ account: 'nobody' }, 'no_such_account'],
      [{ name: ' ' }, 'name_invalid'],
      [{ expiresAt: new Date(Date.now() - 1) }, 'expires_in_the_past'],
    ] as const)
      expect(await createToken(ports, { ...order, ...wrong })).toEqual({ ok: false, refusal });
  });

  test('are refused from the moment they are revoked, and stay so', async () => {
    const { token, id } = await newToken(url);
    expect((await ask(token)).status).toBe(200);
    const revoked = await revokeToken(ports, { id, actor: 'bob' });
    expect(revoked).toMatchObject({ ok: true, value: { id, revokedAt: expect.any(Date) } });
    expect(await ask(token)).toMatchObject({ status: 401, body: { message: 'Unauthenticated.' } });
    expect(await revokeToken(ports, { id, actor: 'eve' })).toEqual(revoked);
    expect(await audit('token_id', id)).toEqual([
      { actor: 'test', action: 'token.created' },
      { actor: 'bob', action: 'token.revoked' },
    ]);
    expect(await revokeToken(ports, { id: 'tok_nothing', actor: 'bob' })).toEqual({
      ok: false,
      refusal: 'no_such_token',
    });
  });

  test('are refused from the moment they are revoked under load too', async () => {
    const { token, id } = await newToken(url);
    let revokedAt = Number.POSITIVE_INFINITY;
    let wrong = 0;
    let refused = 0;
    const load = Array.from({ length: 16 }, async () => {
      for (let i = 0; i < 40; i++) {
        const start = performance.now();
        const { status } = await ask(token);
        if (status === 401) refused += 1;
        if (status === 200 && start > revokedAt) wrong += 1;
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await revokeToken(ports, { id, actor: 'bob' });
    revokedAt = performance.now();
    await Promise.all(load);
    expect(wrong).toBe(0);
    expect(refused).toBeGreaterThan(0);
  });

  test('of many accounts asked for at once are told apart', async () => {
    const shops = await Promise.all(Array.from({ length: 20 }, () => newToken(url)));
    upstream.answer((res, { headers }) => res.end(String(headers['x-quittance-identity'])));
    const answers = await Promise.all([...shops, ...shops].map(({ token }) => ask(token)));
    const seen = answers.map(({ text }) => Buffer.from(text.split('.')[2] ?? '', 'base64url').toString());
    expect(seen.map((claim) => (JSON.parse(claim) as { account: string }).account)).toEqual(
      [...shops, ...shops].map(({ account }) => account),
    );
  });

  test('are listed with what became of them', async () => {
    const account = await anAccount();
    const used = await aToken(account, 'used');
    const revoked = await aToken(account, 'revoked');
    const expired = await aToken(account, 'expired', new Date(Date.now() + 60_000));
    await ask(used.token);
    await revokeToken(ports, { id: revoked.id, actor: 'ann' });
    await db.rows('update tokens set expires_at = now() where id = $1', [expired.id]);
    expect(await writeTokenUses(gateway.ports)).toBeGreaterThanOrEqual(1);
    const listed = await listTokens(ports, account);
    // Made in the same millisecond, they have no order.
    const byName = new Map(listed.ok ? listed.value.map((token) => [token.name, token]) : []);
    expect(byName.get('used')).toMatchObject({
      state: 'active',
      lastUsedAt: expect.any(Date),
      hint: used.hint,
    });
    expect(byName.get('revoked')).toMatchObject({ state: 'revoked', lastUsedAt: null });
    expect(byName.get('expired')).toMatchObject({ state: 'expired', lastUsedAt: null });
    expect(byName.size).toBe(3);
    expect(JSON.stringify(listed)).not.toContain(used.token);
    expect(await listTokens(ports, 'nobody')).toEqual({ ok: false, refusal: 'no_such_account' });
    const all = await listTokens(ports, undefined);
    expect(all.ok && all.value.length).toBeGreaterThan(3);
  });
});

describe('when a token was last used', () => {
  const lastUsed = async (id: string) =>
    (await db.one<{ at: Date | null }>('select last_used_at as at from tokens where id = $1', [id])).at;

  test('is written later and in one go, at most once a minute', async () => {
    const [one, two] = [await newToken(url), await newToken(url)];
    await writeTokenUses(gateway.ports);
    await Promise.all([ask(one.token), ask(one.token), ask(two.token)]);
    expect(await lastUsed(one.id)).toBeNull();
    expect(await writeTokenUses(gateway.ports)).toBe(2);
    expect(await lastUsed(one.id)).toBeInstanceOf(Date);
    await ask(one.token);
    expect(await writeTokenUses(gateway.ports)).toBe(0);
  });

  test('is not forgotten when it cannot be written', async () => {
    const { token, id } = await newToken(url);
    await writeTokenUses(gateway.ports);
    await ask(token);
    const broken = {
      ...gateway.ports,
      db: { ...gateway.ports.db, rows: () => Promise.reject(new Error('away')) },
    };
    await expect(writeTokenUses(broken)).rejects.toThrow('away');
    expect(await writeTokenUses(gateway.ports)).toBe(1);
    expect(await lastUsed(id)).toBeInstanceOf(Date);
  });

  test('a failed try is no use', async () => {
    const { token, id } = await newToken(url);
    await revokeToken(ports, { id, actor: 'ann' });
    await ask(token);
    await writeTokenUses(gateway.ports);
    expect(await lastUsed(id)).toBeNull();
  });
});
