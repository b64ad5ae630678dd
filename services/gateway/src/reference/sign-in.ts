import { count, flag, id, saidOf, text, time } from '@quittance/shared/answer-schemas';
import { documented, type Operation, viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import { scopeNames } from '../domain/scopes.ts';
import {
  readAcceptance,
  readCode,
  readPasswordChange,
  readSignIn,
  readStepUp,
} from '../http/people-forms.ts';
import type { personView, sessionView } from '../person-views.ts';
import { again, email, listOf, needsAgain, ofOne, own, personId, role, said } from './people-parts.ts';

const accountId = id('acc', 'The id of the account.');
const sessionId = id('ses', 'The id of the session. It is not what the cookie has.');

export const person = viewed<ReturnType<typeof personView>>()(
  z
    .strictObject({
      id: personId,
      email,
      name: text('The name of the person.'),
      session_id: sessionId,
      account_id: accountId.describe('The account for which the session acts.'),
      role,
      scopes: z
        .array(z.enum(scopeNames as [(typeof scopeNames)[number]]))
        .nullable()
        .describe('What the role allows, as scopes of API tokens; null: everything.'),
      accounts: z
        .array(z.strictObject({ id: accountId, name: text('Its name.'), role }))
        .describe('All accounts of the person. Sign in again to act for another one.'),
      second_factor: z
        .strictObject({
          totp: flag('Whether the person signs in with codes of an app.'),
          recovery_codes: count('How many recovery codes are left.'),
        })
        .describe('What is asked for beside the password.'),
      passkeys: count('How many passkeys the person has: each signs in without the password.'),
      operator: flag(
        'Whether the person operates this installation, for the pages of the dashboard for operators.',
      ),
      sandbox: flag('Whether this installation is a sandbox: its money is worth nothing.'),
      stepped_up_until: time('Until when operations are allowed that need the password again.'),
      expires_at: time('When the session ends, if nothing is done with it.'),
    })
    .meta({ id: 'SignedIn', description: 'Who has signed in, for which account.' }),
);

export const session = viewed<ReturnType<typeof sessionView>>()(
  z
    .strictObject({
      id: sessionId,
      current: flag('Whether this request was sent with it.'),
      account_id: accountId,
      signed_in_at: time('When the person signed in.'),
      last_used_at: time('When it was last used, to the minute.'),
      expires_at: time('When it ends, if nothing is done with it.'),
      address: text('The address from which the person signed in, or null.').nullable(),
      user_agent: text('The program that the person uses, as it calls itself, or null.').nullable(),
    })
    .meta({ id: 'Session', description: 'A session of the person, in any account.' }),
);

const secret = z
  .strictObject({
    secret: text('What is typed into an app, in base 32. Shown only here.'),
    uri: text('The same as an app reads it from a QR code.'),
  })
  .meta({ id: 'NewTotpSecret', description: 'What sets up an app.' });
const recoveryCodes = z
  .strictObject({
    recovery_codes: z.array(z.string()).describe('Each signs in once in place of a code. Shown only here.'),
  })
  .meta({ id: 'NewRecoveryCodes', description: 'All recovery codes of the person.' });

const tag = 'People';
const auth = 'session';

export const operations: readonly Operation[] = [
  {
    method: 'post',
    path: '/api/session',
    operationId: 'signIn',
    tag,
    auth: 'credentials',
    summary: 'Sign in',
    description:
      'The session is in the cookie `__Host-quittance_session`. A session that the browser has ends. An unknown address and a wrong password have the same answer.',
    body: {
      fields: documented(readSignIn.schema.shape, {
        email: 'The e-mail address.',
        password: 'The password.',
        code: 'Six digits of the app, or a recovery code, where the person has set them up.',
        account_id: 'The account to act for. Default: the one that the person was in first.',
      }),
      required: true,
    },
    answers: { 201: { description: 'The person has signed in.', json: saidOf(person) } },
    errors: ['sign_in_failed', 'second_factor_needed', 'foreign_origin'],
  },
  {
    method: 'post',
    path: '/api/invitations/accept',
    operationId: 'acceptInvitation',
    tag,
    auth: 'credentials',
    summary: 'Accept an invitation',
    description:
      'A token of `POST /api/invitations`, or of the operator. It sets name and password, or after a reset the password. Somebody who has a password signs in first and sends the token alone.',
    body: {
      fields: documented(readAcceptance.schema.shape, {
        token: 'The token of the invitation.',
        name: 'The name of the person, in one line.',
        password: 'At least 12 characters. Common ones and those with the name of the address are refused.',
      }),
      required: true,
    },
    answers: { 201: { description: 'It is accepted: the person can sign in.', json: said } },
    errors: ['foreign_origin', 'conflict', ...ofOne],
  },
  {
    method: 'get',
    path: '/api/me',
    operationId: 'getMe',
    tag,
    auth,
    summary: 'Get who has signed in',
    answers: { 200: { description: 'The person, the account and the role.', json: person } },
    errors: own,
  },
  {
    method: 'post',
    path: '/api/session/step-up',
    operationId: 'stepUp',
    tag,
    auth,
    summary: 'Give the password again',
    description:
      'For ten minutes it allows what needs the password again. The session goes on as another one, with a new cookie, and ends no later.',
    body: {
      fields: documented(readStepUp.schema.shape, {
        password: 'The password.',
        code: 'Six digits of the app, or a recovery code, where the person has set them up.',
      }),
      required: true,
    },
    answers: { 201: { description: 'The password is right.', json: saidOf(person) } },
    errors: [...own, 'sign_in_failed', 'second_factor_needed'],
  },
  {
    method: 'get',
    path: '/api/sessions',
    operationId: 'listSessions',
    tag,
    auth,
    summary: 'List your sessions',
    description: 'Those that are valid, in every account; the one that was used last comes first.',
    answers: { 200: { description: 'The sessions.', json: listOf('SessionList', session) } },
    errors: own,
  },
  {
    method: 'delete',
    path: '/api/sessions',
    operationId: 'endOtherSessions',
    tag,
    auth,
    summary: 'End all other sessions',
    answers: { 200: { description: 'They are ended.', json: said } },
    errors: own,
  },
  {
    method: 'delete',
    path: '/api/sessions/{id}',
    operationId: 'endSession',
    tag,
    auth,
    summary: 'End a session',
    description: 'The next request with it is refused. `current` signs out.',
    params: z.strictObject({ id: z.string().describe('The id of the session, or `current`.') }),
    answers: { 200: { description: 'It is ended.', json: said } },
    errors: [...own, ...ofOne],
  },
  {
    method: 'put',
    path: '/api/me/password',
    operationId: 'changePassword',
    tag,
    auth,
    summary: 'Change your password',
    description: `All other sessions of the person end. ${needsAgain}`,
    body: {
      fields: documented(readPasswordChange.schema.shape, {
        current_password: 'The present password.',
        password: 'The new one.',
      }),
      required: true,
    },
    answers: { 200: { description: 'It is changed.', json: said } },
    errors: [...again, 'sign_in_failed'],
  },
  {
    method: 'post',
    path: '/api/me/totp',
    operationId: 'beginTotp',
    tag,
    auth,
    summary: 'Set up codes of an app',
    description: `Time-based codes (RFC 6238). They count from the first code on, see below. ${needsAgain}`,
    answers: { 201: { description: 'The secret.', json: saidOf(secret) } },
    errors: [...again, 'conflict'],
  },
  {
    method: 'post',
    path: '/api/me/totp/confirm',
    operationId: 'confirmTotp',
    tag,
    auth,
    summary: 'Confirm codes of an app',
    description: `From now on a sign-in needs a code, each once. All other sessions of the person end. ${needsAgain}`,
    body: {
      fields: documented(readCode.schema.shape, { code: 'A code of the app.' }),
      required: true,
    },
    answers: { 201: { description: 'The recovery codes.', json: saidOf(recoveryCodes) } },
    errors: [...again, 'conflict'],
  },
  {
    method: 'delete',
    path: '/api/me/totp',
    operationId: 'removeTotp',
    tag,
    auth,
    summary: 'Remove codes of an app',
    description: `The recovery codes go too. ${needsAgain}`,
    answers: { 200: { description: 'They are removed.', json: said } },
    errors: [...again, 'conflict'],
  },
  {
    method: 'post',
    path: '/api/me/recovery-codes',
    operationId: 'replaceRecoveryCodes',
    tag,
    auth,
    summary: 'Replace recovery codes',
    description: `Ten new ones; all former ones are refused. ${needsAgain}`,
    answers: { 201: { description: 'The recovery codes.', json: saidOf(recoveryCodes) } },
    errors: [...again, 'conflict'],
  },
];
