import {
  type Algorithm,
  type Deviation,
  type SoftwareAuthenticator,
  softwareAuthenticator,
} from '@quittance/testkit/software-authenticator';
import { dataOf, ORIGIN, openPeople } from './people-fixture.ts';

export const newDevice = (algorithm: Algorithm = 'ES256') => softwareAuthenticator(ORIGIN, { algorithm });

/** For one suite: a gateway that people sign in at, and their requests about passkeys. */
export async function openPasskeys(settings: Record<string, string> = {}) {
  const people = await openPeople(settings);
  const { ask, by, someone, asAdmin } = people;
  const optionsToRegister = async (cookie: string) =>
    dataOf(await by(cookie, 'POST', '/api/me/passkeys/options'));
  const optionsToSignIn = async () => dataOf(await ask('POST', '/api/session/passkey/options'));
  const optionsToStepUp = async (cookie: string) =>
    dataOf(await by(cookie, 'POST', '/api/session/step-up/passkey/options'));

  const add = (cookie: string, credential: object) =>
    by(cookie, 'POST', '/api/me/passkeys', { name: 'My phone', credential });

  /** Registers the passkey of a device. */
  const register = async (cookie: string, device: SoftwareAuthenticator, given: Deviation = {}) =>
    add(cookie, device.create(await optionsToRegister(cookie), given));

  const signInWith = async (device: SoftwareAuthenticator, given: Deviation = {}, more: object = {}) => {
    const credential = device.get(await optionsToSignIn(), given);
    return ask('POST', '/api/session/passkey', { body: { credential, ...more } });
  };

  const stepUpWith = (cookie: string, credential: object) =>
    by(cookie, 'POST', '/api/session/step-up/passkey', { credential });

  return {
    ...people,
    ...{ optionsToRegister, optionsToSignIn, optionsToStepUp, add, register, signInWith, stepUpWith },
    /** Somebody with a passkey. */
    async withPasskey(device = newDevice()) {
      const anna = await someone();
      const added = await register(anna.cookie, device);
      if (added.status !== 201) throw new Error(added.text);
      return { ...anna, device, passkey: dataOf(added).id as string };
    },
    /** All challenges there are were made six minutes ago. */
    expireChallenges: () =>
      asAdmin.rows(`update gateway.passkey_challenges set created_at = now() - interval '6 minutes'`),
  };
}
