import { describe, expect, test } from '@jest/globals';
import { passwordHashes } from '../src/password-hashes.ts';
import { newToken } from './gateway-fixture.ts';
import { anEmail, cookieIn, openPeople, PASSWORD } from './people-fixture.ts';

const { url, accept, signIn, invited, someone, beside } = await openPeople();

describe('a sign-in', () => {
  test('has the same answer for an unknown address and a wrong password', async () => {
    const { email } = await someone();
    const [wrong, unknown, none] = [
      await signIn(email, 'not the password'),
      await signIn(anEmail(), 'not the password'),
      await signIn('no address', 'not the password'),
    ];
    const said = ({ status, body }: typeof wrong) => {
      const { request_id: _id, ...others } = body as { request_id: string };
      return { status, ...others };
    };
    expect(said(wrong)).toMatchObject({ status: 401, code: 'sign_in_failed' });
    expect(said(unknown)).toEqual(said(wrong));
    expect(said(none)).toEqual(said(wrong));
    expect(cookieIn(wrong)).toBe('');
  });

  test('works as much for an unknown address as for a wrong password', async () => {
    const { email } = await someone();
    let hashes = 0;
    const counted = passwordHashes({ memoryKib: 8, passes: 1 }, () => {
      hashes += 1;
      return Promise.resolve(Buffer.alloc(32));
    });
    const other = await beside({}, { passwords: counted });
    for (const one of [email, anEmail(), 'no address']) {
      hashes = 0;
      expect((await other.signIn(one)).status).toBe(401);
      expect(hashes).toBe(1);
    }
  });

  test('takes the password in any composition of its letters, and with its spaces', async () => {
    const { account } = await newToken(url);
    const email = anEmail();
    const token = await invited(account, email, 'viewer');
    await accept({ token, name: 'Anna', password: ' caf\u00e9 au lait ' });
    expect((await signIn(email, ' cafe\u0301 au lait ')).status).toBe(201);
    expect((await signIn(email, 'caf\u00e9 au lait')).status).toBe(401);
  });

  test('sets a cookie that only this origin gets, over TLS, and that no script reads', async () => {
    const { email } = await someone();
    const answer = await signIn(email);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-quittance_session=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
  });

  test('is limited per client, and what fails says when to come back', async () => {
    const people = await beside({ FAILED_SIGN_INS_PER_MINUTE: '3' });
    const { email } = await someone();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => people.signIn(anEmail(), 'wrong password')),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await people.signIn(email)).status).toBe(429);
  });

  test('is limited per address, and strangers lock nobody out who has signed in before', async () => {
    const people = await beside({ FAILED_SIGN_INS_PER_EMAIL_PER_MINUTE: '2', TRUSTED_PROXIES: 'loopback' });
    const anna = await someone();
    const from = (address: string) => [`X-Forwarded-For: ${address}`];
    expect((await people.signIn(anna.email, PASSWORD, {}, from('203.0.113.7'))).status).toBe(201);
    for (const last of [1, 2])
      expect((await people.signIn(anna.email, 'wrong', {}, from(`198.51.100.${last}`))).status).toBe(401);
    expect((await people.signIn(anna.email, PASSWORD, {}, from('198.51.100.3'))).status).toBe(429);
    expect((await people.signIn(anna.email, PASSWORD, {}, from('203.0.113.7'))).status).toBe(201);
  });

  test('from a page of another site is refused', async () => {
    const { email } = await someone();
    for (const header of ['Origin: https://evil.example', 'Sec-Fetch-Site: cross-site'])
      expect(await signIn(email, PASSWORD, {}, [header])).toMatchObject({
        status: 403,
        body: { code: 'foreign_origin' },
      });
  });
});
