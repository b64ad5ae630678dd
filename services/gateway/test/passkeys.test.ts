import { describe, expect, test } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import { eventually } from '@quittance/testkit/eventually';
import type { Deviation } from '@quittance/testkit/software-authenticator';
import { removeAsOperator, resetAsOperator } from '../src/operations/operators-people.ts';
import { newDevice, openPasskeys } from './passkey-fixture.ts';
import { codeOf, cookieIn, dataOf } from './people-fixture.ts';

const passkeys = await openPasskeys();
const { db, asAdmin, by, signIn, someone, acts, endStepUp, expireChallenges } = passkeys;
const { optionsToRegister, optionsToSignIn, optionsToStepUp, add, register, signInWith, withPasskey } =
  passkeys;

const countOf = async (person: string): Promise<number> =>
  (await db.one<{ n: number }>('select count(*)::int as n from passkeys where person_id = $1', [person])).n;

describe('a passkey', () => {
  test('is listed, renamed and removed by its person alone, and then signs in no more', async () => {
    const [anna, eve] = [await withPasskey(), await someone()];
    const path = `/api/me/passkeys/${anna.passkey}`;
    expect((await by(eve.cookie, 'PATCH', path, { name: 'Mine' })).status).toBe(404);
    expect((await by(eve.cookie, 'DELETE', path)).status).toBe(404);
    expect(dataOf(await by(eve.cookie, 'GET', '/api/me/passkeys'))).toEqual([]);
    expect((await by(anna.cookie, 'PATCH', path, { name: 'a\nb' })).status).toBe(422);
    expect(dataOf(await by(anna.cookie, 'PATCH', path, { name: ' Old phone ' })).name).toBe('Old phone');
    const session = cookieIn(await signInWith(anna.device));
    const [listed] = dataOf(await by(anna.cookie, 'GET', '/api/me/passkeys'));
    expect(listed).toMatchObject({ id: anna.passkey, name: 'Old phone', last_used_at: expect.any(String) });
    expect((await by(anna.cookie, 'DELETE', path)).status).toBe(200);
    expect((await by(session, 'GET', '/api/me')).status).toBe(401);
    expect(codeOf(await signInWith(anna.device))).toBe('sign_in_failed');
    expect((await by(anna.cookie, 'DELETE', path)).status).toBe(404);
    const done = (await acts(anna.account)).map(({ action }) => action);
    expect(done).toEqual(
      expect.arrayContaining(['person.passkey_added', 'person.passkey_renamed', 'person.passkey_removed']),
    );
  });

  test('needs a step-up to be registered or removed', async () => {
    const anna = await withPasskey();
    await endStepUp(anna.id);
    for (const [method, path] of [
      ['POST', '/api/me/passkeys/options'],
      ['POST', '/api/me/passkeys'],
      ['DELETE', `/api/me/passkeys/${anna.passkey}`],
    ] as const)
      expect(codeOf(await by(anna.cookie, method, path))).toBe('step_up_needed');
  });

  test('stays as it was registered: the gateway cannot give it another key or another person', async () => {
    const anna = await withPasskey();
    for (const change of ["public_key = '\\x00'", "person_id = 'per_1'", "credential_id = 'a'"])
      await expect(db.rows(`update passkeys set ${change} where id = $1`, [anna.passkey])).rejects.toThrow(
        'permission denied',
      );
    await expect(db.rows('update passkey_challenges set created_at = now()')).rejects.toThrow('permission');
  });

  test('goes with the password when the operator resets the person, and with a person of no account', async () => {
    const [anna, ben] = [await withPasskey(), await withPasskey()];
    const ops = { actor: 'ops', email: anna.email };
    expect((await resetAsOperator({ db, clock: systemClock }, ops)).ok).toBe(true);
    expect(codeOf(await signInWith(anna.device))).toBe('sign_in_failed');
    const removed = await removeAsOperator({ db }, { actor: 'ops', account: ben.account, email: ben.email });
    expect(removed.ok).toBe(true);
    expect(codeOf(await signInWith(ben.device))).toBe('sign_in_failed');
    expect([await countOf(anna.id), await countOf(ben.id)]).toEqual([0, 0]);
  });
});

describe('a registration', () => {
  test('asks for a passkey that the device finds by itself, after it has verified the person', async () => {
    const anna = await withPasskey();
    const options = await optionsToRegister(anna.cookie);
    expect(options).toMatchObject({
      rp: { id: 'localhost', name: 'localhost' },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [{ id: anna.device.credentialId, transports: ['hybrid', 'internal'] }],
    });
    expect(options.pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).toEqual([-7, -8, -257]);
    expect(Buffer.from(options.user.id, 'base64url')).toHaveLength(32);
    const again = await optionsToRegister(anna.cookie);
    expect(again.user.id).toBe(options.user.id);
    expect(again.challenge).not.toBe(options.challenge);
  });

  test.each<[string, Deviation]>([
    ['of a page of another origin', { origin: 'https://localhost.evil.example' }],
    ['for another host name', { rpId: 'evil.example' }],
    ['in a frame of another page', { crossOrigin: true }],
    ['without user verification', { userVerified: false }],
    ['without the person', { userPresent: false }],
    ['that is a sign-in', { type: 'webauthn.get' }],
    ['with another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
  ])('%s is refused', async (_what, given) => {
    const anna = await someone();
    expect((await register(anna.cookie, newDevice(), given)).status).toBe(422);
    expect(await countOf(anna.id)).toBe(0);
  });

  test('counts for one challenge once, also when two come at once, and for the person who asked', async () => {
    const [anna, eve] = [await someone(), await someone()];
    const options = await optionsToRegister(anna.cookie);
    const send = (cookie: string) => add(cookie, newDevice().create(options));
    expect((await send(eve.cookie)).status).toBe(422);
    const mine = await optionsToRegister(anna.cookie);
    const answers = await Promise.all([1, 2].map(() => add(anna.cookie, newDevice().create(mine))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect((await add(anna.cookie, newDevice().create(mine))).status).toBe(422);
    expect([await countOf(anna.id), await countOf(eve.id)]).toEqual([1, 0]);
  });

  test('does not take a challenge that has expired, or of a sign-in or a step-up', async () => {
    const anna = await withPasskey();
    const options = await optionsToRegister(anna.cookie);
    const send = async (challenge: string) =>
      (await add(anna.cookie, newDevice().create({ ...options, challenge }))).status;
    await expireChallenges();
    expect(await send(options.challenge)).toBe(422);
    expect(await send((await optionsToSignIn()).challenge)).toBe(422);
    expect(await send((await optionsToStepUp(anna.cookie)).challenge)).toBe(422);
    expect(await send((await optionsToRegister(anna.cookie)).challenge)).toBe(201);
  });

  test('of a passkey that somebody has is refused', async () => {
    const [anna, eve] = [await withPasskey(), await someone()];
    const refused = await register(eve.cookie, anna.device);
    expect([refused.status, codeOf(refused)]).toEqual([409, 'conflict']);
  });

  test('ends all other sessions', async () => {
    const anna = await someone();
    const other = cookieIn(await signIn(anna.email));
    expect((await register(anna.cookie, newDevice())).status).toBe(201);
    expect((await by(other, 'GET', '/api/me')).status).toBe(401);
    expect((await by(anna.cookie, 'GET', '/api/me')).status).toBe(200);
  });

  test('adds nothing when its session is ended while the credential is verified', async () => {
    const anna = await someone();
    const credential = newDevice().create(await optionsToRegister(anna.cookie));
    const answer = await asAdmin.transaction(async (trx) => {
      await trx.rows('select 1 from gateway.people where id = $1 for update', [anna.id]);
      const asked = add(anna.cookie, credential);
      await eventually(async () => {
        const waiting = await db.rows(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        if (waiting.length === 0) throw new Error('the registration does not wait yet');
      });
      await trx.rows('update gateway.sessions set ended_at = now() where person_id = $1', [anna.id]);
      return { asked };
    });
    expect((await answer.asked).status).toBe(401);
    expect(await countOf(anna.id)).toBe(0);
  });

  test('is refused when the person has twenty passkeys, also when several come at once', async () => {
    const anna = await someone();
    await db.rows(
      `insert into passkeys (id, person_id, name, credential_id, public_key, sign_count, transports)
       select $1 || n, $1, 'a', $1 || n, '\\x00', 0, '{}' from generate_series(1, 19) n`,
      [anna.id],
    );
    const options = await Promise.all([1, 2, 3].map(() => optionsToRegister(anna.cookie)));
    const answers = await Promise.all(options.map((one) => add(anna.cookie, newDevice().create(one))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(codeOf(await by(anna.cookie, 'POST', '/api/me/passkeys/options'))).toBe('conflict');
    expect(await countOf(anna.id)).toBe(20);
  });
});
