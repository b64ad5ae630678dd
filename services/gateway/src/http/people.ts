import { readRequestBody } from '@quittance/shared/exact-json';
import { unknownParameters } from '@quittance/shared/http';
import { type Answer, accessAnswers, answers } from '@quittance/shared/http-answers';
import { invariant } from '@quittance/shared/result';
import type { Request } from 'express';
import { operationOf } from '../domain/routes.ts';
import { noCookie } from '../domain/session.ts';
import type { Caller } from '../operations/caller.ts';
import { acceptInvitation } from '../operations/invitations.ts';
import {
  changePassword,
  changeRole,
  inviteSomebody,
  listInvitations,
  listPeople,
  removePerson,
  withdrawInvitation,
} from '../operations/people.ts';
import type { PersonAsker } from '../operations/person-asker.ts';
import {
  endOwnSessions,
  listSessions,
  sessionLife,
  signIn,
  stepUp,
  type Visit,
} from '../operations/sessions.ts';
import { invitationView, memberView, newInvitationView, sessionView } from '../person-views.ts';
import type { Ports } from '../ports.ts';
import { type AskedToSignIn, answersOfPasskeySignIn, answersOfPasskeys } from './passkeys.ts';
import {
  passwordProblem,
  readAcceptance,
  readInvitation,
  readPasswordChange,
  readRole,
  readSignIn,
  readStepUp,
  withoutFields,
} from './people-forms.ts';
import { answersOfTotp } from './second-factors.ts';
import { begunSession, refusedSignIn, shownPerson, withCookie } from './session-answers.ts';

type Asked = {
  caller: Caller | undefined;
  client: string | undefined;
  pattern: string;
  path: string;
  body: Buffer | undefined;
};

type AskedByPerson = PersonAsker & { id: string; input: unknown; visit: Visit };

const person = accessAnswers('Person');
const invitation = accessAnswers('Invitation');

/** Answers the requests about people and their sessions, which no service knows. Role and step-up were checked before. */
export async function answerOfPeople(req: Request, asked: Asked, ports: Ports): Promise<Answer> {
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (asked.body !== undefined && encoding !== 'identity') return answers.compressed;
  const unknown = unknownParameters(req);
  if (unknown !== undefined) return unknown;
  const input = asked.body === undefined ? undefined : readRequestBody(asked.body);
  const { caller, client, pattern, path } = asked;
  const visit = { client, userAgent: req.headers['user-agent'] };
  const session = caller?.tokenId === undefined ? caller?.session : undefined;
  const signIn = toSignIn[pattern];
  if (signIn !== undefined) return signIn({ input, session, visit }, ports);
  invariant(session !== undefined, 'what only people can do has a session');
  const id = path.split('/')[pattern.split('/').indexOf(':id')] ?? '';
  const answer = ofPeople[operationOf(req.method, pattern)];
  invariant(answer !== undefined, `${req.method} ${pattern} has an answer`);
  return answer({ session, client, id, input, visit }, ports);
}

const toSignIn: Readonly<Record<string, (asked: AskedToSignIn, ports: Ports) => Promise<Answer>>> = {
  '/api/session': answerSignIn,
  '/api/invitations/accept': answerAcceptance,
  ...answersOfPasskeySignIn,
};

const ofPeople: Readonly<Record<string, (asked: AskedByPerson, ports: Ports) => Promise<Answer>>> = {
  'GET /api/me': withoutFields(async ({ session }, ports) => {
    return { status: 200, body: await shownPerson(session, ports) };
  }),
  'POST /api/session/step-up': answerStepUp,
  'GET /api/sessions': withoutFields(async ({ session }, ports) => {
    const life = sessionLife(ports);
    const data = (await listSessions(ports, session)).map((one) => sessionView(one, session, life));
    return { status: 200, body: { data } };
  }),
  'DELETE /api/sessions': withoutFields(async ({ session, visit }, ports) => {
    await endOwnSessions(ports, session, { but: session.id }, visit);
    return done('All other sessions ended successfully.');
  }),
  'DELETE /api/sessions/:id': withoutFields(endSession),
  'PUT /api/me/password': answerPassword,
  ...answersOfTotp,
  ...answersOfPasskeys,
  'GET /api/people': withoutFields(async ({ session }, ports) => {
    const data = (await listPeople(ports, session.account)).map(memberView);
    return { status: 200, body: { data } };
  }),
  'PATCH /api/people/:id': async (asked, ports) => {
    const read = readRole(asked.input);
    if (!read.ok) return answers.invalid(read.refusal);
    const changed = await changeRole(ports, { ...asked, role: read.value.role });
    if (!changed.ok) return changeRefusals[changed.refusal];
    return { status: 200, body: { message: 'Role changed successfully.', data: memberView(changed.value) } };
  },
  'DELETE /api/people/:id': withoutFields(async (asked, ports) => {
    const removed = await removePerson(ports, asked);
    return removed.ok ? done('Person removed successfully.') : changeRefusals[removed.refusal];
  }),
  'GET /api/invitations': withoutFields(async ({ session }, ports) => {
    const data = (await listInvitations(ports, session.account)).map(invitationView);
    return { status: 200, body: { data } };
  }),
  'POST /api/invitations': answerInvitation,
  'DELETE /api/invitations/:id': withoutFields(async (asked, ports) => {
    const withdrawn = await withdrawInvitation(ports, asked);
    return withdrawn.ok ? done('Invitation withdrawn successfully.') : invitation[withdrawn.refusal];
  }),
};

const done = (message: string): Answer => ({ status: 200, body: { message } });

const changeRefusals = {
  ...person,
  last_owner: answers.conflict('An account keeps an owner: make somebody else one first.'),
} as const;

async function answerSignIn({ input, session: former, visit }: AskedToSignIn, ports: Ports): Promise<Answer> {
  const read = readSignIn(input);
  if (!read.ok) return answers.invalid(read.refusal);
  const { account_id: accountId, ...proof } = read.value;
  const begun = await signIn(ports, { proof, accountId, former }, visit);
  return begun.ok
    ? begunSession('Signed in successfully.', begun.value, ports)
    : refusedSignIn(begun.refusal, ports);
}

async function answerStepUp({ session, input, visit }: AskedByPerson, ports: Ports): Promise<Answer> {
  const read = readStepUp(input);
  if (!read.ok) return answers.invalid(read.refusal);
  const stepped = await stepUp(ports, session, read.value, visit);
  return stepped.ok
    ? begunSession('Stepped up successfully.', stepped.value, ports)
    : refusedSignIn(stepped.refusal, ports);
}

/** `current` stands for the session of the request: to sign out. */
async function endSession({ session, id, visit }: AskedByPerson, ports: Ports): Promise<Answer> {
  const only = id === 'current' ? session.id : id;
  if (!(await endOwnSessions(ports, session, { only }, visit))) return answers.noModel('Session');
  const answer = done('Session ended successfully.');
  if (only !== session.id) return answer;
  return withCookie({ ...answer, headers: { 'Clear-Site-Data': '"cache", "storage"' } }, noCookie);
}

async function answerPassword(asked: AskedByPerson, ports: Ports): Promise<Answer> {
  const read = readPasswordChange(asked.input);
  if (!read.ok) return answers.invalid(read.refusal);
  const { current_password: current, password: next } = read.value;
  const changed = await changePassword(ports, asked, { current, next });
  if (changed.ok) return done('Password changed successfully.');
  const { refusal } = changed;
  return refusal.kind === 'password' ? passwordProblem(refusal.why) : refusedSignIn(refusal, ports);
}

async function answerInvitation(asked: AskedByPerson, ports: Ports): Promise<Answer> {
  const read = readInvitation(asked.input);
  if (!read.ok) return answers.invalid(read.refusal);
  const invited = await inviteSomebody(ports, { ...asked, ...read.value });
  if (invited.ok) {
    const data = newInvitationView(invited.value);
    return { status: 201, body: { message: 'Invitation created successfully.', data } };
  }
  switch (invited.refusal) {
    case 'forbidden':
      return answers.missingRole(asked.session.role);
    case 'email_invalid':
      return answers.invalid({ email: [{ message: 'The email must be a valid email address.' }] });
    case 'member_already':
      return answers.conflict('The account has this person already: change the role instead.');
  }
}

async function answerAcceptance(
  { input, session, visit: { client } }: AskedToSignIn,
  ports: Ports,
): Promise<Answer> {
  const read = readAcceptance(input);
  if (!read.ok) return answers.invalid(read.refusal);
  const accepted = await acceptInvitation(ports, read.value, { session, client });
  if (accepted.ok) return { status: 201, body: { message: 'Invitation accepted successfully.' } };
  const { refusal } = accepted;
  switch (refusal.kind) {
    case 'not_valid':
      return answers.noModel('Invitation');
    case 'sign_in_first':
      return answers.conflict('The person of this invitation has a password: sign in, and accept it then.');
    case 'member_already':
      return answers.conflict('The person is in this account already.');
    case 'name_needed':
      return answers.invalid({ name: [{ message: 'The name must be one line.', hint: 'Give a name.' }] });
    case 'password_needed':
      return answers.invalid({ password: [{ message: 'The password field is required.' }] });
    case 'password':
      return passwordProblem(refusal.why);
  }
}
