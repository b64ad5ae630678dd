import { describe, expect, test } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import { resetAsOperator } from '../src/operations/operators-people.ts';
import type { PasswordHashes } from '../src/password-hashes.ts';
import { cheapPasswords, openPeople, PASSWORD, type SignedIn } from './people-fixture.ts';

/** What happens once a password was verified, or the new one hashed. */
let afterwards: () => Promise<unknown> = async () => undefined;
const passwords: PasswordHashes = {
  async verify(...given) {
    const isRight = await cheapPasswords.verify(...given);
    await afterwards();
    return isRight;
  },
  async hash(...given) {
    const hash = await cheapPasswords.hash(...given);
    await afterwards();
    return hash;
  },
};

const { db, by, signIn, someone } = await openPeople({}, { passwords });

/** The operator resets the person, once, at the given call. */
function resetAtCall(email: string, atCall = 1): void {
  let calls = 0;
  afterwards = async () => {
    calls += 1;
    if (calls !== atCall) return;
    const reset = await resetAsOperator({ db, clock: systemClock }, { email, actor: 'ops' });
    expect(reset.ok).toBe(true);
  };
}

describe('when the operator resets a person while the password is verified', () => {
  test.each<[string, (person: SignedIn) => ReturnType<typeof signIn>]>([
    ['sign-in', ({ email }) => signIn(email)],
    ['step-up', ({ cookie }) => by(cookie, 'POST', '/api/session/step-up', { password: PASSWORD })],
  ])('a %s begins no session', async (_what, begin) => {
    const anna = await someone();
    resetAtCall(anna.email);
    expect((await begin(anna)).status).toBe(401);
    const open = 'select id from sessions where person_id = $1 and ended_at is null';
    expect(await db.rows(open, [anna.id])).toEqual([]);
  });

  test.each([1, 2])('a new password of the former session does not count (%d)', async (atCall) => {
    const anna = await someone();
    const next = 'another horse battery';
    resetAtCall(anna.email, atCall);
    const body = { current_password: PASSWORD, password: next };
    expect((await by(anna.cookie, 'PUT', '/api/me/password', body)).status).toBe(401);
    expect((await signIn(anna.email, next)).status).toBe(401);
    expect((await signIn(anna.email)).status).toBe(401);
  });
});
