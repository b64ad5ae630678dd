import { flag, id, message, oneOf, saidOf, text, time } from '@quittance/shared/answer-schemas';
import type { ErrorCode } from '@quittance/shared/error-codes';
import { documented, type Operation, viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import { roles } from '../domain/roles.ts';
import { scopeNames } from '../domain/scopes.ts';
import {
  readAcceptance,
  readInvitation,
  readPasswordChange,
  readRole,
  readSignIn,
  readStepUp,
} from '../http/people-forms.ts';
import type {
  invitationView,
  memberView,
  newInvitationView,
  personView,
  sessionView,
} from '../person-views.ts';

const personId = id('per', 'The id of the person.');
const accountId = id('acc', 'The id of the account.');
const sessionId = id('ses', 'The id of the session. It is not what the cookie has.');
const invitationId = id('ivt', 'The id of the invitation. It is not its token.');
const email = text('The e-mail address.');
const role = oneOf(roles, 'What the person may do in the account.');

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

export const member = viewed<ReturnType<typeof memberView>>()(
  z
    .strictObject({
      id: personId,
      email,
      name: text('The name of the person.'),
      role,
      joined_at: time('When the person accepted the invitation.'),
      last_sign_in_at: time('When the person last signed in for this account, or null.').nullable(),
    })
    .meta({ id: 'Person', description: 'Somebody of the account.' }),
);

const invitationShape = {
  id: invitationId,
  email,
  role: role.nullable(),
  created_at: time('When it was created.'),
  expires_at: time('When it expires.'),
};
export const invitation = viewed<ReturnType<typeof invitationView>>()(
  z.strictObject(invitationShape).meta({ id: 'Invitation', description: 'Without its token.' }),
);
export const newInvitation = viewed<ReturnType<typeof newInvitationView>>()(
  z
    .strictObject({ ...invitationShape, token: text('What accepts it, once. Shown only here.') })
    .meta({ id: 'NewInvitation', description: 'An invitation with its token.' }),
);

const listOf = (name: string, one: z.ZodType) => z.strictObject({ data: z.array(one) }).meta({ id: name });
const said = z.strictObject({ message });
const tag = 'People';
const auth = 'session';
const own = ['missing_role', 'foreign_origin'] as const satisfies ErrorCode[];
const again = [...own, 'step_up_needed'] as const satisfies ErrorCode[];
const ofOne = ['not_found', 'route_not_found'] as const satisfies ErrorCode[];
const needsAgain = 'Needs that the person has given the password within ten minutes.';
const managers = 'Owners and admins may do this.';

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
        account_id: 'The account to act for. Default: the one that the person was in first.',
      }),
      required: true,
    },
    answers: { 201: { description: 'The person has signed in.', json: saidOf(person) } },
    errors: ['sign_in_failed', 'foreign_origin'],
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
    body: { fields: documented(readStepUp.schema.shape, { password: 'The password.' }), required: true },
    answers: { 201: { description: 'The password is right.', json: saidOf(person) } },
    errors: [...own, 'sign_in_failed'],
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
    method: 'get',
    path: '/api/people',
    operationId: 'listPeople',
    tag,
    auth,
    summary: 'List the people of the account',
    description: managers,
    answers: { 200: { description: 'All of them.', json: listOf('PersonList', member) } },
    errors: own,
  },
  {
    method: 'patch',
    path: '/api/people/{id}',
    operationId: 'changeRole',
    tag,
    auth,
    summary: 'Change a role',
    description: `${managers} Only owners change owners, and an account keeps an owner. The sessions of the person end. ${needsAgain}`,
    params: z.strictObject({ id: personId }),
    body: { fields: documented(readRole.schema.shape, { role: 'The new role.' }), required: true },
    answers: { 200: { description: 'The person with the new role.', json: saidOf(member) } },
    errors: [...again, 'forbidden', 'conflict', ...ofOne],
  },
  {
    method: 'delete',
    path: '/api/people/{id}',
    operationId: 'removePerson',
    tag,
    auth,
    summary: 'Remove somebody from the account',
    description: `${managers} Only owners remove owners. The sessions of the person there end; API tokens that the person has created stay. ${needsAgain}`,
    params: z.strictObject({ id: personId }),
    answers: { 200: { description: 'The person is removed.', json: said } },
    errors: [...again, 'forbidden', 'conflict', ...ofOne],
  },
  {
    method: 'get',
    path: '/api/invitations',
    operationId: 'listInvitations',
    tag,
    auth,
    summary: 'List invitations',
    description: `Those that can still be accepted. ${managers}`,
    answers: { 200: { description: 'All of them.', json: listOf('InvitationList', invitation) } },
    errors: own,
  },
  {
    method: 'post',
    path: '/api/invitations',
    operationId: 'invite',
    tag,
    auth,
    summary: 'Invite somebody',
    description: `No e-mail is sent: pass the token on yourself. It is shown once, expires after three days, and takes the place of an earlier one for the address. ${managers} Only owners invite owners. ${needsAgain}`,
    body: {
      fields: documented(readInvitation.schema.shape, { email: 'The e-mail address.', role: 'The role.' }),
      required: true,
    },
    answers: { 201: { description: 'The invitation.', json: saidOf(newInvitation) } },
    errors: [...again, 'conflict'],
  },
  {
    method: 'delete',
    path: '/api/invitations/{id}',
    operationId: 'withdrawInvitation',
    tag,
    auth,
    summary: 'Withdraw an invitation',
    description: `${managers} ${needsAgain}`,
    params: z.strictObject({ id: invitationId }),
    answers: { 200: { description: 'Its token is refused.', json: said } },
    errors: [...again, 'forbidden', ...ofOne],
  },
];
