import { expect, test } from '@jest/globals';
import { bytesOfBase32 } from '@quittance/testkit/base32';
import { checkAnswer } from '@quittance/testkit/documented-answers';
import { softwareAuthenticator } from '@quittance/testkit/software-authenticator';
import { SESSION_COOKIE } from '../../../services/gateway/src/domain/session.ts';
import { totpCode } from '../../../services/gateway/src/totp.ts';
import { operations } from '../reference/document.ts';
import { type OnStack, quittanceCommand } from './on-stack.ts';

const STEP_MS = 30_000;
const OWNER = { email: 'anna@shop.example', password: 'three words and a comma' };

const ofPeople = operations.filter(({ tags }) => tags.includes('People'));

/** Every operation of people, as a page of the gateway calls it. What each refuses is in the tests of the gateway. */
export const peopleCases = (stack: OnStack): void => {
  test('an owner signs in, and carries out every operation of people as it is documented', async () => {
    const quittance = stack();
    const { id: account } = await quittance.merchant();
    const called = new Set<string>();
    let cookie = '';

    async function call(operationId: string, body?: object, id = '') {
      const operation = ofPeople.find((one) => one.operationId === operationId);
      if (operation === undefined) throw new Error(`the reference has no ${operationId}`);
      const { method, responses } = operation;
      const path = operation.path.replace('{id}', id);
      const answer = await fetch(`${quittance.url}${path}`, {
        method,
        headers: {
          origin: new URL(quittance.url).origin,
          ...(cookie === '' ? {} : { cookie: `${SESSION_COOKIE}=${cookie}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const { status, headers } = answer;
      const json = JSON.parse(await answer.text());
      expect([operationId, status, json]).toEqual([operationId, expect.any(Number), expect.anything()]);
      checkAnswer({ method, path, status, contentType: headers.get('content-type') ?? '', body: json });
      const good = Object.keys(responses).filter((one) => one.startsWith('2'));
      expect([operationId, json, String(status)]).toEqual([
        operationId,
        json,
        expect.stringMatching(`^(?:${good.join('|')})$`),
      ]);
      called.add(operationId);
      const set = new RegExp(`^${SESSION_COOKIE}=([^;]*);`).exec(headers.get('set-cookie') ?? '')?.[1];
      return { json, set };
    }

    const settings = { DATABASE_URL_ADMIN: quittance.stack.adminUrl };
    const order = [
      'people',
      'invite',
      '--account',
      account,
      '--email',
      OWNER.email,
      '--role',
      'owner',
      '--json',
    ];
    const { out } = await quittanceCommand(quittance, settings, order);
    await call('acceptInvitation', { token: JSON.parse(out).token, name: 'Anna', password: OWNER.password });
    await call('signIn', OWNER);
    cookie = (await call('signIn', OWNER)).set ?? '';
    expect((await call('getMe')).json).toMatchObject({ role: 'owner', account_id: account });
    cookie = (await call('stepUp', { password: OWNER.password })).set ?? '';
    expect((await call('listSessions')).json.data).toHaveLength(2);
    await call('endOtherSessions');
    expect((await call('listSessions')).json.data).toHaveLength(1);

    const { token } = (await call('invite', { email: 'ben@shop.example', role: 'accountant' })).json.data;
    await call('acceptInvitation', { token, name: 'Ben', password: 'four other words, longer' });
    const { id: invitation } = (await call('invite', { email: 'cy@shop.example', role: 'viewer' })).json.data;
    expect((await call('listInvitations')).json.data).toMatchObject([{ id: invitation }]);
    await call('withdrawInvitation', undefined, invitation);
    const people: { id: string; name: string }[] = (await call('listPeople')).json.data;
    const ben = people.find(({ name }) => name === 'Ben')?.id ?? '';
    await call('changeRole', { role: 'developer' }, ben);
    await call('removePerson', undefined, ben);
    expect((await call('listPeople')).json.data).toMatchObject([{ name: 'Anna' }]);

    const { secret } = (await call('beginTotp')).json.data;
    const code = totpCode(bytesOfBase32(secret), Math.floor(Date.now() / STEP_MS));
    expect((await call('confirmTotp', { code })).json.data.recovery_codes).toHaveLength(10);
    await call('replaceRecoveryCodes');
    await call('removeTotp');
    const device = softwareAuthenticator(new URL(quittance.url).origin);
    const made = device.create((await call('beginPasskey')).json.data);
    const { id: passkey } = (await call('addPasskey', { name: 'My phone', credential: made })).json.data;
    expect((await call('listPasskeys')).json.data).toMatchObject([{ id: passkey }]);
    await call('renamePasskey', { name: 'My old phone' }, passkey);
    const again = device.get((await call('beginPasskeyStepUp')).json.data);
    cookie = (await call('stepUpWithPasskey', { credential: again })).set ?? '';
    const signed = device.get((await call('beginPasskeySignIn')).json.data);
    cookie = (await call('signInWithPasskey', { credential: signed })).set ?? '';
    await call('removePasskey', undefined, passkey);
    await call('changePassword', {
      current_password: OWNER.password,
      password: 'five words that are longer yet',
    });
    await call('endSession', undefined, 'current');
    expect([...called].sort()).toEqual(ofPeople.map(({ operationId }) => operationId).sort());
  });
};
