import { scopesOfRole } from './domain/roles.ts';
import { STEP_UP_MS } from './domain/session.ts';
import type { NewInvitation } from './operations/invitations.ts';
import type { Invitation } from './store/invitations.ts';
import type { Passkey } from './store/passkeys.ts';
import type { Member, Membership } from './store/people.ts';
import type { SecondFactors } from './store/second-factors.ts';
import type { PersonSession, Session, SessionLife } from './store/sessions.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const after = (at: Date, ms: number): string => new Date(at.getTime() + ms).toISOString();

/** When a session ends by itself, when nothing is done with it from now on. */
const expiryOf = ({ signedInAt, lastUsedAt }: Session, { idleMinutes, hours }: SessionLife): string => {
  const absolute = signedInAt.getTime() + hours * HOUR_MS;
  return new Date(Math.min(absolute, lastUsedAt.getTime() + idleMinutes * MINUTE_MS)).toISOString();
};

/** Who has signed in, for which account, and what may be done. */
type OfPerson = { accounts: readonly Membership[]; factors: SecondFactors };
/** What holds for everybody here. */
type Installation = { life: SessionLife; isSandbox: boolean };

export const personView = (
  session: PersonSession,
  { accounts, factors }: OfPerson,
  { life, isSandbox }: Installation,
) => ({
  id: session.person as string,
  email: session.email,
  name: session.name,
  session_id: session.id as string,
  account_id: session.account as string,
  role: session.role,
  scopes: scopesOfRole[session.role] === null ? null : [...(scopesOfRole[session.role] ?? [])],
  accounts: accounts.map(({ accountId, accountName, role }) => ({
    id: accountId as string,
    name: accountName,
    role,
  })),
  second_factor: { totp: factors.totpSecret !== null, recovery_codes: factors.recoveryCodes },
  passkeys: factors.passkeys,
  operator: session.isOperator,
  sandbox: isSandbox,
  stepped_up_until: after(session.steppedUpAt, STEP_UP_MS),
  expires_at: expiryOf(session, life),
});

export const sessionView = (session: Session, current: Pick<Session, 'id'>, life: SessionLife) => ({
  id: session.id as string,
  current: session.id === current.id,
  account_id: session.account as string,
  signed_in_at: session.signedInAt.toISOString(),
  last_used_at: session.lastUsedAt.toISOString(),
  expires_at: expiryOf(session, life),
  address: session.address,
  user_agent: session.userAgent,
});

export const passkeyView = (passkey: Passkey) => ({
  id: passkey.id as string,
  name: passkey.name,
  created_at: passkey.createdAt.toISOString(),
  last_used_at: passkey.lastUsedAt?.toISOString() ?? null,
});

export const memberView = (member: Member) => ({
  id: member.id as string,
  email: member.email,
  name: member.name,
  role: member.role,
  joined_at: member.joinedAt.toISOString(),
  last_sign_in_at: member.lastSignInAt?.toISOString() ?? null,
});

export const invitationView = ({ id, email, role, createdAt, expiresAt }: Invitation) => ({
  id: id as string,
  email,
  role,
  created_at: createdAt.toISOString(),
  expires_at: expiresAt.toISOString(),
});

/** With its token, which is shown only once. */
export const newInvitationView = (invitation: NewInvitation) => ({
  ...invitationView(invitation),
  token: invitation.token,
});
