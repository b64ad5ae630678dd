import { id, saidOf, text, time } from '@quittance/shared/answer-schemas';
import { documented, type Operation, viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import { readInvitation, readRole } from '../http/people-forms.ts';
import type { invitationView, memberView, newInvitationView } from '../person-views.ts';
import { again, email, listOf, needsAgain, ofOne, own, personId, role, said } from './people-parts.ts';

const invitationId = id('ivt', 'The id of the invitation. It is not its token.');

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
const newInvitation = viewed<ReturnType<typeof newInvitationView>>()(
  z
    .strictObject({ ...invitationShape, token: text('What accepts it, once. Shown only here.') })
    .meta({ id: 'NewInvitation', description: 'An invitation with its token.' }),
);

const tag = 'People';
const auth = 'session';
const managers = 'Owners and admins may do this.';

export const operations: readonly Operation[] = [
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
