import { type Answer, accessAnswers, answers } from '@quittance/shared/http-answers';
import { readName } from '../domain/token.ts';
import {
  addPasskey,
  beginPasskey,
  listPasskeys,
  type RegistrationRefusal,
  removePasskey,
  renamePasskey,
} from '../operations/passkeys.ts';
import type { PersonAsker } from '../operations/person-asker.ts';
import {
  passkeySignInOptions,
  passkeyStepUpOptions,
  signInByPasskey,
  stepUpByPasskey,
} from '../operations/prove-passkey.ts';
import type { Visit } from '../operations/sessions.ts';
import { passkeyView } from '../person-views.ts';
import type { Ports } from '../ports.ts';
import type { PersonSession } from '../store/sessions.ts';
import { readNewPasskey, readPasskeyName, readPasskeySignIn, readPasskeyStepUp } from './passkey-forms.ts';
import { withoutFields } from './people-forms.ts';
import { begunSession, refusedSignIn } from './session-answers.ts';

const passkey = accessAnswers('Passkey');

const registrationRefusals = {
  challenge: answers.invalid({
    credential: [
      {
        message: 'The credential answers no options that are open.',
        hint: 'Ask for options with POST /api/me/passkeys/options, and use them once, within five minutes.',
      },
    ],
  }),
  not_verified: answers.invalid({
    credential: [
      {
        message: 'The credential is not verified.',
        hint: 'Make it with the options as they are, on a page of this installation. The log of the gateway has the cause.',
      },
    ],
  }),
  too_many: answers.conflict('A person has 20 passkeys at most: delete one first.'),
  taken: answers.conflict('The passkey is registered already.'),
  session_ended: answers.unauthenticated,
} as const satisfies Record<RegistrationRefusal, Answer>;

const nameProblem = answers.invalid({ name: [{ message: 'The name must be one line.' }] });

type Asked = PersonAsker & { id: string; input: unknown; visit: Visit };

/** Answers the requests of a person about passkeys. */
export const answersOfPasskeys: Readonly<Record<string, (asked: Asked, ports: Ports) => Promise<Answer>>> = {
  'GET /api/me/passkeys': withoutFields(async (asked, ports) => {
    return { status: 200, body: { data: (await listPasskeys(ports, asked)).map(passkeyView) } };
  }),
  'POST /api/me/passkeys/options': withoutFields(async (asked, ports) => {
    const begun = await beginPasskey(ports, asked);
    if (!begun.ok) return registrationRefusals[begun.refusal];
    return { status: 201, body: { message: 'Make a passkey with these options.', data: begun.value } };
  }),
  'POST /api/me/passkeys': async (asked, ports) => {
    const read = readNewPasskey(asked.input);
    if (!read.ok) return answers.invalid(read.refusal);
    const name = readName(read.value.name);
    if (name === undefined) return nameProblem;
    const added = await addPasskey(ports, asked, { ...read.value, name });
    if (!added.ok) return registrationRefusals[added.refusal];
    return {
      status: 201,
      body: { message: 'Passkey registered successfully.', data: passkeyView(added.value) },
    };
  },
  'PATCH /api/me/passkeys/:id': async (asked, ports) => {
    const read = readPasskeyName(asked.input);
    if (!read.ok) return answers.invalid(read.refusal);
    const name = readName(read.value.name);
    if (name === undefined) return nameProblem;
    const renamed = await renamePasskey(ports, asked, name);
    if (!renamed.ok) return passkey[renamed.refusal];
    return {
      status: 200,
      body: { message: 'Passkey renamed successfully.', data: passkeyView(renamed.value) },
    };
  },
  'DELETE /api/me/passkeys/:id': withoutFields(async (asked, ports) => {
    const removed = await removePasskey(ports, asked);
    if (!removed.ok) return passkey[removed.refusal];
    return { status: 200, body: { message: 'Passkey removed successfully.' } };
  }),
  'POST /api/session/step-up/passkey/options': withoutFields(async ({ session }, ports) => {
    const options = await passkeyStepUpOptions(ports, session);
    if (!options.ok) return answers.conflict('There is no passkey: step up with POST /api/session/step-up.');
    return { status: 201, body: { message: 'Sign with these options.', data: options.value } };
  }),
  'POST /api/session/step-up/passkey': async ({ session, input, visit }, ports) => {
    const read = readPasskeyStepUp(input);
    if (!read.ok) return answers.invalid(read.refusal);
    const stepped = await stepUpByPasskey(ports, session, read.value.credential, visit);
    return stepped.ok
      ? begunSession('Stepped up successfully.', stepped.value, ports)
      : refusedSignIn(stepped.refusal, ports);
  },
};

/** Somebody who signs in: the body says who it is. `session` is the one that the browser has, when it is valid. */
export type AskedToSignIn = { input: unknown; session: PersonSession | undefined; visit: Visit };

/** Answers somebody who signs in with a passkey. */
export const answersOfPasskeySignIn: Readonly<
  Record<string, (asked: AskedToSignIn, ports: Ports) => Promise<Answer>>
> = {
  '/api/session/passkey/options': withoutFields(async (_asked, ports) => {
    const data = await passkeySignInOptions(ports);
    return { status: 201, body: { message: 'Sign with these options.', data } };
  }),
  '/api/session/passkey': async ({ input, session: former, visit }, ports) => {
    const read = readPasskeySignIn(input);
    if (!read.ok) return answers.invalid(read.refusal);
    const { credential, account_id: accountId } = read.value;
    const begun = await signInByPasskey(ports, { credential, accountId, former }, visit);
    return begun.ok
      ? begunSession('Signed in successfully.', begun.value, ports)
      : refusedSignIn(begun.refusal, ports);
  },
};
