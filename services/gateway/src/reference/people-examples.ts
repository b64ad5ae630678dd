import type { Example } from '@quittance/shared/reference';
import { AT, exampleIds, LATER } from '@quittance/shared/reference-examples';
import type { z } from 'zod';
import type { invitation, member } from './people.ts';
import type { person, session } from './sign-in.ts';

const { account, person: id, session: sessionId, invitation: invitationId } = exampleIds;
const email = 'anna@shop.example';
const password = 'three words and a comma';

export const anna: z.input<typeof person> = {
  id,
  email,
  name: 'Anna',
  session_id: sessionId,
  account_id: account,
  role: 'owner',
  scopes: null,
  accounts: [{ id: account, name: 'My shop', role: 'owner' }],
  second_factor: { totp: true, recovery_codes: 10 },
  passkeys: 1,
  operator: false,
  sandbox: false,
  stepped_up_until: LATER,
  expires_at: LATER,
};
const own: z.input<typeof session> = {
  id: sessionId,
  current: true,
  account_id: account,
  signed_in_at: AT,
  last_used_at: AT,
  expires_at: LATER,
  address: '203.0.113.7',
  user_agent: 'Mozilla/5.0',
};
const ben: z.input<typeof member> = {
  id,
  email: 'ben@shop.example',
  name: 'Ben',
  role: 'accountant',
  joined_at: AT,
  last_sign_in_at: null,
};
const invited: z.input<typeof invitation> = {
  id: invitationId,
  email: ben.email,
  role: ben.role,
  created_at: AT,
  expires_at: LATER,
};

const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const recoveryCode = 'abcd-efgh-ijkl-mnop-qrst-uvwx';

export const examples: Readonly<Record<string, Example>> = {
  signIn: { body: { email, password }, answer: { message: 'Signed in successfully.', data: anna } },
  acceptInvitation: {
    body: { token: 'qi_…', name: 'Anna', password },
    answer: { message: 'Invitation accepted successfully.' },
  },
  getMe: { answer: anna },
  stepUp: { body: { password }, answer: { message: 'Stepped up successfully.', data: anna } },
  listSessions: { answer: { data: [own] } },
  endOtherSessions: { answer: { message: 'All other sessions ended successfully.' } },
  endSession: { params: { id: 'current' }, answer: { message: 'Session ended successfully.' } },
  changePassword: {
    body: { current_password: password, password: 'four other words, longer' },
    answer: { message: 'Password changed successfully.' },
  },
  beginTotp: {
    answer: {
      message: 'Confirm it with a code.',
      data: {
        secret,
        uri: `otpauth://totp/pay.example:anna%40shop.example?secret=${secret}&issuer=pay.example`,
      },
    },
  },
  confirmTotp: {
    body: { code: '123456' },
    answer: { message: 'Codes set up successfully.', data: { recovery_codes: [recoveryCode] } },
  },
  removeTotp: { answer: { message: 'Codes removed successfully.' } },
  replaceRecoveryCodes: {
    answer: { message: 'Recovery codes replaced successfully.', data: { recovery_codes: [recoveryCode] } },
  },
  listPeople: { answer: { data: [ben] } },
  changeRole: {
    params: { id },
    body: { role: ben.role },
    answer: { message: 'Role changed successfully.', data: ben },
  },
  removePerson: { params: { id }, answer: { message: 'Person removed successfully.' } },
  listInvitations: { answer: { data: [invited] } },
  invite: {
    body: { email: ben.email, role: ben.role },
    answer: { message: 'Invitation created successfully.', data: { ...invited, token: 'qi_…' } },
  },
  withdrawInvitation: {
    params: { id: invitationId },
    answer: { message: 'Invitation withdrawn successfully.' },
  },
};
