import { type Answer, answers } from '@quittance/shared/http-answers';
import type { PersonAsker } from '../operations/person-asker.ts';
import {
  beginTotp,
  confirmTotp,
  endTotp,
  replaceCodes,
  type TotpRefusal,
} from '../operations/second-factors.ts';
import type { Ports } from '../ports.ts';
import { readCode, withoutFields } from './people-forms.ts';

const refusals = {
  not_set: answers.conflict('The operator has not set TOTP_SECRETS_KEY, so there are no codes.'),
  has_one: answers.conflict('Codes are set up already: delete them first.'),
  has_none: answers.conflict('Codes are not set up: begin with POST /api/me/totp.'),
  session_ended: answers.unauthenticated,
  wrong_code: answers.invalid({
    code: [{ message: 'The code is wrong.', hint: 'Check the clock of the device.' }],
  }),
} as const satisfies Record<TotpRefusal, Answer>;

type Asked = PersonAsker & { input: unknown };
type Answering = (asked: Asked, ports: Ports) => Promise<Answer>;

const codesAnswer = (message: string, codes: string[]): Answer => ({
  status: 201,
  body: { message, data: { recovery_codes: codes } },
});

/** Answers the requests of a person about the codes of an app. */
export const answersOfTotp: Readonly<Record<string, Answering>> = {
  'POST /api/me/totp': withoutFields(async (asked, ports) => {
    const begun = await beginTotp(ports, asked);
    if (!begun.ok) return refusals[begun.refusal];
    return { status: 201, body: { message: 'Confirm it with a code.', data: begun.value } };
  }),
  'POST /api/me/totp/confirm': async (asked, ports) => {
    const read = readCode(asked.input);
    if (!read.ok) return answers.invalid(read.refusal);
    const confirmed = await confirmTotp(ports, asked, read.value.code);
    return confirmed.ok
      ? codesAnswer('Codes set up successfully.', confirmed.value)
      : refusals[confirmed.refusal];
  },
  'DELETE /api/me/totp': withoutFields(async (asked, ports) => {
    const ended = await endTotp(ports, asked);
    return ended.ok
      ? { status: 200, body: { message: 'Codes removed successfully.' } }
      : refusals[ended.refusal];
  }),
  'POST /api/me/recovery-codes': withoutFields(async (asked, ports) => {
    const replaced = await replaceCodes(ports, asked);
    return replaced.ok
      ? codesAnswer('Recovery codes replaced successfully.', replaced.value)
      : refusals[replaced.refusal];
  }),
};
