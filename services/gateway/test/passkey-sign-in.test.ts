import { describe, expect, test } from '@jest/globals';
import {
  type Deviation,
  type SoftwareAuthenticator,
  softwareAuthenticator,
} from '@quittance/testkit/software-authenticator';
import { deleteExpiredChallenges } from '../src/operations/passkeys.ts';
import { newToken } from './gateway-fixture.ts';
import { newDevice, openPasskeys } from './passkey-fixture.ts';
import { codeOf, cookieIn, dataOf, ORIGIN } from './people-fixture.ts';

const passkeys = await openPasskeys({ TOTP_SECRETS_KEY: 'k'.repeat(32) });
const { url, db, gateway, ask, by, signIn, someone, acts, beside, endStepUp, expireChallenges } = passkeys;
const { optionsToRegister, optionsToSignIn, optionsToStepUp, signInWith, stepUpWith, withPasskey } = passkeys;

describe('a sign-in with a passkey', () => {
  test.each(['ES256', 'EdDSA', 'RS256'] as const)(
    'by %s needs no password, again and again',
    async (algorithm) => {
      const { id, email, device } = await withPasskey(newDevice(algorithm));
      for (const _ of [1, 2]) {
        const answer = await signInWith(device);
        expect([answer.status, dataOf(answer).id, dataOf(answer).passkeys]).toEqual([201, id, 1]);
        const me = await by(cookieIn(answer), 'GET', '/api/me');
        expect(me.body).toMatchObject({ email, passkeys: 1 });
      }
    },
  );

  test('needs no code of an app, which the password needs', async () => {
    const { cookie, email, device, id } = await withPasskey();
    const secret = Buffer.from('0'.repeat(20));
    const encrypted = gateway.ports.totpSecrets?.encrypt(secret, id);
    await db.rows('update people set totp_secret = $2 where id = $1', [id, encrypted]);
    expect(codeOf(await signIn(email))).toBe('second_factor_needed');
    expect((await signInWith(device)).status).toBe(201);
    expect((await by(cookie, 'GET', '/api/me')).body).toMatchObject({ second_factor: { totp: true } });
  });

  test('counts as a step-up, and is for the account that is named', async () => {
    const anna = await withPasskey();
    const answer = await signInWith(anna.device, {}, { account_id: anna.account });
    const cookie = cookieIn(answer);
    expect((await by(cookie, 'POST', '/api/tokens', { name: 'a' })).status).toBe(201);
    const other = await newToken(url);
    const refused = await signInWith(anna.device, {}, { account_id: other.account });
    expect([refused.status, cookieIn(refused)]).toEqual([422, '']);
    expect((await acts(anna.account)).filter(({ action }) => action === 'session.began')).toHaveLength(2);
    const [{ detail } = { detail: '' }] = await db.rows<{ detail: string }>(
      `select detail from audit_log where action = 'session.began' and account_id = $1 order by seq desc`,
      [anna.account],
    );
    expect(detail).toBe(anna.passkey);
  });

  test('begins with the same options for everybody', async () => {
    await withPasskey();
    const { challenge, ...options } = await optionsToSignIn();
    expect(options).toEqual({
      rpId: 'localhost',
      timeout: 300_000,
      userVerification: 'required',
      allowCredentials: [],
    });
    expect(Buffer.from(challenge, 'base64url')).toHaveLength(32);
  });

  test.each<[string, Deviation]>([
    ['of a page of another origin', { origin: 'http://localhost:8080' }],
    ['for another host name', { rpId: 'evil.example' }],
    ['in a frame of another page', { crossOrigin: true }],
    ['without user verification', { userVerified: false }],
    ['without the person', { userPresent: false }],
    ['that is a registration', { type: 'webauthn.create' }],
    ['with another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['by another key', { otherKey: true }],
    ['of a device that has it for somebody else', { userHandle: Buffer.alloc(32).toString('base64url') }],
    ['of a device that does not say whose it is', { userHandle: null }],
  ])('%s is refused', async (_what, given) => {
    const { device } = await withPasskey();
    const answer = await signInWith(device, given);
    expect([answer.status, codeOf(answer), cookieIn(answer)]).toEqual([401, 'sign_in_failed', '']);
    expect((await signInWith(device)).status).toBe(201);
  });

  test('counts for one challenge once, also when several come at once on two gateways', async () => {
    const { device } = await withPasskey();
    const other = await beside();
    const options = await optionsToSignIn();
    const send = (one: typeof ask) =>
      one('POST', '/api/session/passkey', { body: { credential: device.get(options) } });
    const answers = await Promise.all([send(ask), send(other.ask), send(ask), send(other.ask)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401]);
    expect((await send(ask)).status).toBe(401);
  });

  test('does not take a challenge that has expired, or of a registration or a step-up', async () => {
    const anna = await withPasskey();
    const send = async (challenge: string) => {
      const credential = anna.device.get({ rpId: 'localhost', challenge });
      return (await ask('POST', '/api/session/passkey', { body: { credential } })).status;
    };
    const { challenge } = await optionsToSignIn();
    await expireChallenges();
    expect(await send(challenge)).toBe(401);
    const registration = await optionsToRegister(anna.cookie);
    expect(await send(registration.challenge)).toBe(401);
    expect(await send((await optionsToStepUp(anna.cookie)).challenge)).toBe(401);
    expect(await send((await optionsToSignIn()).challenge)).toBe(201);
  });

  test('with a signature counter that went back is refused, and is in the audit log with its reason, if the passkey has signed it', async () => {
    const { id, device } = await withPasskey();
    expect((await signInWith(device, { signCount: 7 })).status).toBe(201);
    for (const signCount of [7, 3, 0])
      expect(codeOf(await signInWith(device, { signCount }))).toBe('sign_in_failed');
    expect((await signInWith(device, { signCount: 0, otherKey: true })).status).toBe(401);
    const noted = await db.rows<{ actor: string; detail: string }>(
      `select actor, detail from audit_log where subject = $1 and action = 'person.passkey_refused' order by seq`,
      [id],
    );
    expect(noted).toHaveLength(3);
    expect(noted[1]).toMatchObject({
      actor: `person ${id}`,
      detail: expect.stringContaining('the signature counter is 3 after 7'),
    });
    expect((await signInWith(device, { signCount: 8 })).status).toBe(201);
  });

  test('may always have a signature counter of 0', async () => {
    const { device } = await withPasskey(softwareAuthenticator(ORIGIN, { counts: false }));
    for (const _ of [1, 2, 3]) expect((await signInWith(device)).status).toBe(201);
  });

  test('does not say whether a passkey is registered', async () => {
    const { device } = await withPasskey();
    const stranger = newDevice();
    stranger.create({ ...(await optionsToSignIn()), rp: {}, user: { id: 'AAAA' } });
    const said = async (of: SoftwareAuthenticator) => {
      const { status, body } = await signInWith(of, { otherKey: true });
      const { request_id: _id, ...others } = body as { request_id: string };
      return { status, ...others };
    };
    expect(await said(device)).toEqual(await said(stranger));
  });

  test('from a page of others is refused, and takes no challenge', async () => {
    const { device } = await withPasskey();
    const body = { credential: device.get(await optionsToSignIn()) };
    for (const path of ['/api/session/passkey/options', '/api/session/passkey']) {
      const headers = ['Origin: https://evil.example'];
      expect(codeOf(await ask('POST', path, { body, headers }))).toBe('foreign_origin');
    }
    expect((await ask('POST', '/api/session/passkey', { body })).status).toBe(201);
  });

  test('ends the session that the browser has', async () => {
    const anna = await withPasskey();
    const credential = anna.device.get(await optionsToSignIn());
    expect((await by(anna.cookie, 'POST', '/api/session/passkey', { credential })).status).toBe(201);
    expect((await by(anna.cookie, 'GET', '/api/me')).status).toBe(401);
  });

  test('is limited by client: its options, and its failures', async () => {
    const few = await beside({ SIGN_INS_PER_MINUTE: '3' });
    const statuses = await Promise.all(
      [1, 2, 3, 4, 5].map(async () => (await few.ask('POST', '/api/session/passkey/options')).status),
    );
    expect(statuses.sort()).toEqual([201, 201, 201, 429, 429]);
    const { device } = await withPasskey();
    const failing = await beside({ FAILED_SIGN_INS_PER_MINUTE: '2' });
    const send = async (deviation: Deviation) => {
      const credential = device.get(await optionsToSignIn(), deviation);
      return (await failing.ask('POST', '/api/session/passkey', { body: { credential } })).status;
    };
    const wrong = { otherKey: true };
    expect([await send(wrong), await send(wrong), await send({})]).toEqual([401, 401, 429]);
  });

  test('with a body that is no credential is a 422 that names the field', async () => {
    const { device } = await withPasskey();
    const credential = device.get(await optionsToSignIn());
    const wrong = [undefined, 'a', [], {}, { ...credential, id: 'a+b' }, { ...credential, type: 'password' }];
    for (const one of wrong) {
      const answer = await ask('POST', '/api/session/passkey', { body: { credential: one } });
      expect([answer.status, Object.keys((answer.body as { errors: object }).errors)[0]]).toEqual([
        422,
        expect.stringMatching(/^credential/),
      ]);
    }
  });
});

describe('a step-up with a passkey', () => {
  test('gives the session another token, and allows what needs a step-up', async () => {
    const anna = await withPasskey();
    await endStepUp(anna.id);
    const create = (cookie: string) => by(cookie, 'POST', '/api/tokens', { name: 'a' });
    expect(codeOf(await create(anna.cookie))).toBe('step_up_needed');
    const options = await optionsToStepUp(anna.cookie);
    expect(options.allowCredentials).toMatchObject([{ id: anna.device.credentialId }]);
    const stepped = await stepUpWith(anna.cookie, anna.device.get(options, { userHandle: null }));
    expect(stepped.status).toBe(201);
    expect((await by(anna.cookie, 'GET', '/api/me')).status).toBe(401);
    expect((await create(cookieIn(stepped))).status).toBe(201);
    expect((await acts(anna.account)).map(({ action }) => action)).toContain('session.stepped_up');
  });

  test('takes no passkey and no challenge of another person', async () => {
    const [anna, eve] = [await withPasskey(), await withPasskey()];
    const ofAnna = await optionsToStepUp(anna.cookie);
    expect(codeOf(await stepUpWith(anna.cookie, eve.device.get(ofAnna)))).toBe('sign_in_failed');
    const ofEve = await optionsToStepUp(eve.cookie);
    expect(codeOf(await stepUpWith(anna.cookie, anna.device.get(ofEve)))).toBe('sign_in_failed');
    expect((await by(anna.cookie, 'GET', '/api/me')).status).toBe(200);
  });

  test('takes no challenge of a sign-in, and none twice', async () => {
    const anna = await withPasskey();
    expect((await stepUpWith(anna.cookie, anna.device.get(await optionsToSignIn()))).status).toBe(401);
    const options = await optionsToStepUp(anna.cookie);
    const answers = await Promise.all([1, 2].map(() => stepUpWith(anna.cookie, anna.device.get(options))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401]);
    const stepped = answers.map(cookieIn).find((cookie) => cookie !== '') ?? '';
    expect((await stepUpWith(stepped, anna.device.get(options))).status).toBe(401);
  });

  test('is a 409 for somebody without a passkey', async () => {
    const anna = await someone();
    expect(codeOf(await by(anna.cookie, 'POST', '/api/session/step-up/passkey/options'))).toBe('conflict');
  });
});

test('challenges that have expired are deleted, and others stay', async () => {
  await optionsToSignIn();
  await expireChallenges();
  const { challenge } = await optionsToSignIn();
  await deleteExpiredChallenges(gateway.ports);
  const left = await db.rows(
    `select from passkey_challenges where created_at < now() - interval '5 minutes'`,
  );
  expect(left).toHaveLength(0);
  const { device } = await withPasskey();
  const credential = device.get({ rpId: 'localhost', challenge });
  expect((await ask('POST', '/api/session/passkey', { body: { credential } })).status).toBe(201);
});
