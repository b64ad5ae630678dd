import { id, saidOf, text, time } from '@quittance/shared/answer-schemas';
import { documented, type Operation, viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import {
  readNewPasskey,
  readPasskeyName,
  readPasskeySignIn,
  readPasskeyStepUp,
} from '../http/passkey-forms.ts';
import type { passkeyView } from '../person-views.ts';
import { again, listOf, needsAgain, ofOne, own, said } from './people-parts.ts';
import { person } from './sign-in.ts';

const passkeyId = id('pky', 'The id of the passkey.');

export const passkey = viewed<ReturnType<typeof passkeyView>>()(
  z
    .strictObject({
      id: passkeyId,
      name: text('The name that the person has given it.'),
      created_at: time('When it was registered.'),
      last_used_at: time('When it last signed in or stepped up, or null.').nullable(),
    })
    .meta({ id: 'Passkey', description: 'A passkey of the person.' }),
);

const challenge = text('What is signed, once, within five minutes.');
const creationOptions = z.looseObject({ challenge }).meta({
  id: 'PasskeyCreationOptions',
  description: 'For `PublicKeyCredential.parseCreationOptionsFromJSON()` of the browser.',
});
const requestOptions = z.looseObject({ challenge }).meta({
  id: 'PasskeyRequestOptions',
  description: 'For `PublicKeyCredential.parseRequestOptionsFromJSON()` of the browser.',
});

const name = 'The name of the passkey, in one line.';
const created = 'What `navigator.credentials.create()` returns, as its `toJSON()`. Other fields are ignored.';
const signed = 'What `navigator.credentials.get()` returns, as its `toJSON()`. Other fields are ignored.';

const tag = 'People';
const auth = 'session';
const params = z.strictObject({ id: passkeyId });

export const operations: readonly Operation[] = [
  {
    method: 'post',
    path: '/api/session/passkey/options',
    operationId: 'beginPasskeySignIn',
    tag,
    auth: 'credentials',
    summary: 'Begin to sign in with a passkey',
    description: 'The options are the same for everybody: they do not say who exists.',
    answers: { 201: { description: 'The options.', json: saidOf(requestOptions) } },
    errors: ['foreign_origin'],
  },
  {
    method: 'post',
    path: '/api/session/passkey',
    operationId: 'signInWithPasskey',
    tag,
    auth: 'credentials',
    summary: 'Sign in with a passkey',
    description:
      'Password and code are not asked for. As after `POST /api/session`, the session is in the cookie `__Host-quittance_session`.',
    body: {
      fields: documented(readPasskeySignIn.schema.shape, {
        credential: signed,
        account_id: 'The account to act for. Default: the one that the person was in first.',
      }),
      required: true,
    },
    answers: { 201: { description: 'The person has signed in.', json: saidOf(person) } },
    errors: ['sign_in_failed', 'foreign_origin'],
  },
  {
    method: 'post',
    path: '/api/session/step-up/passkey/options',
    operationId: 'beginPasskeyStepUp',
    tag,
    auth,
    summary: 'Begin to step up with a passkey',
    description: 'The options name the passkeys of the person.',
    answers: { 201: { description: 'The options.', json: saidOf(requestOptions) } },
    errors: [...own, 'conflict'],
  },
  {
    method: 'post',
    path: '/api/session/step-up/passkey',
    operationId: 'stepUpWithPasskey',
    tag,
    auth,
    summary: 'Step up with a passkey',
    description:
      'In place of giving the password again. Only a passkey of the person of the session is accepted.',
    body: { fields: documented(readPasskeyStepUp.schema.shape, { credential: signed }), required: true },
    answers: { 201: { description: 'The passkey is accepted.', json: saidOf(person) } },
    errors: [...own, 'sign_in_failed'],
  },
  {
    method: 'get',
    path: '/api/me/passkeys',
    operationId: 'listPasskeys',
    tag,
    auth,
    summary: 'List your passkeys',
    description: 'The one that was registered first comes first.',
    answers: { 200: { description: 'The passkeys.', json: listOf('PasskeyList', passkey) } },
    errors: own,
  },
  {
    method: 'post',
    path: '/api/me/passkeys/options',
    operationId: 'beginPasskey',
    tag,
    auth,
    summary: 'Begin to register a passkey',
    description: `The device must verify who uses it, and find the passkey by itself. A person has 20 passkeys at most. ${needsAgain}`,
    answers: { 201: { description: 'The options.', json: saidOf(creationOptions) } },
    errors: [...again, 'conflict'],
  },
  {
    method: 'post',
    path: '/api/me/passkeys',
    operationId: 'addPasskey',
    tag,
    auth,
    summary: 'Register a passkey',
    description: `From now on it signs in without the password. All other sessions of the person end. ${needsAgain}`,
    body: {
      fields: documented(readNewPasskey.schema.shape, { name, credential: created }),
      required: true,
    },
    answers: { 201: { description: 'The passkey.', json: saidOf(passkey) } },
    errors: [...again, 'conflict'],
  },
  {
    method: 'patch',
    path: '/api/me/passkeys/{id}',
    operationId: 'renamePasskey',
    tag,
    auth,
    summary: 'Rename a passkey',
    params,
    body: { fields: documented(readPasskeyName.schema.shape, { name }), required: true },
    answers: { 200: { description: 'The passkey with the new name.', json: saidOf(passkey) } },
    errors: [...own, ...ofOne],
  },
  {
    method: 'delete',
    path: '/api/me/passkeys/{id}',
    operationId: 'removePasskey',
    tag,
    auth,
    summary: 'Remove a passkey',
    description: `It signs in no more. All other sessions of the person end. ${needsAgain}`,
    params,
    answers: { 200: { description: 'It is removed.', json: said } },
    errors: [...again, ...ofOne],
  },
];
