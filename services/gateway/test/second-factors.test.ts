import { describe, expect, test } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import { bytesOfBase32 } from '@quittance/testkit/base32';
import { resetAsOperator } from '../src/operations/operators-people.ts';
import { totpCode } from '../src/totp.ts';
import { codeOf, cookieIn, dataOf, openPeople, PASSWORD, type SignedIn } from './people-fixture.ts';

/** Each test moves it on: a code of the same 30 seconds counts once. */
let now = Date.now();
const clock = { ...systemClock, now: () => new Date(now) };
const settings = { TOTP_SECRETS_KEY: 'k'.repeat(32), FAILED_CODES_PER_HOUR: '5' };
const { db, accept, by, signIn, someone, acts, beside } = await openPeople(settings, { clock });

const later = (steps = 1) => {
  now += steps * 30_000;
};

type WithCodes = SignedIn & { code(stepsOff?: number): string; recovery: string[] };

/** Somebody who signs in with codes. */
async function withCodes(): Promise<WithCodes> {
  const anna = await someone();
  const begun = await by(anna.cookie, 'POST', '/api/me/totp');
  const secret = bytesOfBase32(dataOf(begun).secret);
  const code = (off = 0) => totpCode(secret, Math.floor(now / 30_000) + off);
  const confirmed = await by(anna.cookie, 'POST', '/api/me/totp/confirm', { code: code() });
  if (confirmed.status !== 201) throw new Error(confirmed.text);
  later();
  return { ...anna, code, recovery: dataOf(confirmed).recovery_codes };
}

describe('codes of an app', () => {
  test('count from the first one on, which is no sign-in, and end all other sessions', async () => {
    const anna = await someone();
    const other = cookieIn(await signIn(anna.email));
    const { secret, uri } = dataOf(await by(anna.cookie, 'POST', '/api/me/totp'));
    expect(uri).toContain(`secret=${secret}&issuer=localhost`);
    expect((await signIn(anna.email)).status).toBe(201);
    expect((await by(anna.cookie, 'POST', '/api/me/totp/confirm', { code: '000000' })).status).toBe(422);
    const code = totpCode(bytesOfBase32(secret), Math.floor(now / 30_000));
    const confirmed = await by(anna.cookie, 'POST', '/api/me/totp/confirm', { code });
    expect(dataOf(confirmed).recovery_codes).toHaveLength(10);
    expect((await by(other, 'GET', '/api/me')).status).toBe(401);
    expect(codeOf(await signIn(anna.email, PASSWORD, { code }))).toBe('second_factor_needed');
    for (const path of ['/api/me/totp', '/api/me/totp/confirm'])
      expect(
        (await by(anna.cookie, 'POST', path, path.endsWith('confirm') ? { code } : undefined)).status,
      ).toBe(409);
    expect(await by(anna.cookie, 'GET', '/api/me')).toMatchObject({
      body: { second_factor: { totp: true, recovery_codes: 10 } },
    });
    const stored = await db.one<{ text: string }>(
      `select (select string_agg(p::text, '') from people p) || (select string_agg(c::text, '') from recovery_codes c) as text`,
    );
    expect(stored.text).not.toContain(bytesOfBase32(secret).toString('hex'));
    expect(stored.text).not.toContain(dataOf(confirmed).recovery_codes[0]);
    expect((await acts(anna.account)).map(({ action }) => action)).toContain('person.totp_added');
  });

  test('are asked for after the right password alone', async () => {
    const anna = await withCodes();
    expect(codeOf(await signIn(anna.email, 'not the password', { code: anna.code() }))).toBe(
      'sign_in_failed',
    );
    const missing = await signIn(anna.email);
    expect([missing.status, codeOf(missing), cookieIn(missing)]).toEqual([401, 'second_factor_needed', '']);
    expect(codeOf(await signIn(anna.email, PASSWORD, { code: '000000' }))).toBe('second_factor_needed');
    expect((await signIn(anna.email, PASSWORD, { code: anna.code() })).status).toBe(201);
  });

  test('count once, also when several requests come at once, and no earlier one afterwards', async () => {
    const anna = await withCodes();
    const order = { code: anna.code() };
    const answers = await Promise.all([1, 2, 3, 4].map(() => signIn(anna.email, PASSWORD, order)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401]);
    expect((await signIn(anna.email, PASSWORD, { code: anna.code(-1) })).status).toBe(401);
    later();
    expect((await signIn(anna.email, PASSWORD, { code: anna.code() })).status).toBe(201);
  });

  test('are asked for at a step-up, and for each code once', async () => {
    const anna = await withCodes();
    const stepUp = (cookie: string, body: object) =>
      by(cookie, 'POST', '/api/session/step-up', { password: PASSWORD, ...body });
    expect(codeOf(await stepUp(anna.cookie, {}))).toBe('second_factor_needed');
    const code = anna.code();
    const right = await stepUp(anna.cookie, { code });
    expect(right.status).toBe(201);
    expect((await stepUp(cookieIn(right), { code })).status).toBe(401);
  });

  test('cannot be guessed: after the wrong ones of an hour the right one is refused too', async () => {
    const anna = await withCodes();
    const wrong = await Promise.all(
      Array.from({ length: 8 }, () => signIn(anna.email, PASSWORD, { code: '000000' })),
    );
    expect(wrong.filter(({ status }) => status === 401)).toHaveLength(5);
    const refused = await signIn(anna.email, PASSWORD, { code: anna.code() });
    expect(refused.status).toBe(429);
    // eslint-disable-next-line no-restricted-syntax -- seconds
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
  });

  test('are removed with their recovery codes, and by a reset', async () => {
    const [anna, ben] = [await withCodes(), await withCodes()];
    expect((await by(anna.cookie, 'DELETE', '/api/me/totp')).status).toBe(200);
    expect((await by(anna.cookie, 'DELETE', '/api/me/totp')).status).toBe(409);
    expect((await signIn(anna.email)).status).toBe(201);
    const reset = await resetAsOperator({ db, clock: systemClock }, { email: ben.email, actor: 'ops' });
    if (!reset.ok) throw new Error(reset.refusal);
    const given = { token: reset.value.token, password: 'a quite new password' };
    expect((await accept(given)).status).toBe(201);
    expect((await signIn(ben.email, 'a quite new password')).status).toBe(201);
    const { count } = await db.one<{ count: number }>(
      'select count(*)::int as count from recovery_codes where person_id = any($1::text[])',
      [[anna.id, ben.id]],
    );
    expect(count).toBe(0);
  });

  test('cannot be set up without TOTP_SECRETS_KEY, and are not skipped when it is missing', async () => {
    const without = await beside();
    const [anna, ben] = [await withCodes(), await someone()];
    expect((await without.by(ben.cookie, 'POST', '/api/me/totp')).status).toBe(409);
    expect((await without.signIn(anna.email, PASSWORD, { code: anna.code() })).status).toBe(503);
    const [recovery] = anna.recovery;
    expect((await without.signIn(anna.email, PASSWORD, { code: recovery })).status).toBe(201);
  });
});

describe('a recovery code', () => {
  test('signs in once in place of a code, and its use is in the audit log', async () => {
    const anna = await withCodes();
    const [one = '', other = ''] = anna.recovery;
    const answers = await Promise.all(
      [one, one.toUpperCase()].map((code) => signIn(anna.email, PASSWORD, { code })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401]);
    expect((await signIn(anna.email, PASSWORD, { code: other })).status).toBe(201);
    const me = await by(anna.cookie, 'GET', '/api/me');
    expect(me.body).toMatchObject({ second_factor: { recovery_codes: 8 } });
    const used = await db.rows(
      `select from audit_log where subject = $1 and action = 'person.recovery_code_used'`,
      [anna.id],
    );
    expect(used).toHaveLength(2);
  });

  test('is of its person alone, and refused when all are replaced', async () => {
    const [anna, eve] = [await withCodes(), await withCodes()];
    const [former = ''] = anna.recovery;
    expect((await signIn(eve.email, PASSWORD, { code: former })).status).toBe(401);
    const replaced = await by(anna.cookie, 'POST', '/api/me/recovery-codes');
    expect((await signIn(anna.email, PASSWORD, { code: former })).status).toBe(401);
    const [code] = dataOf(replaced).recovery_codes;
    expect((await signIn(anna.email, PASSWORD, { code })).status).toBe(201);
  });
});
