import { form } from '@quittance/shared/form';
import { type Answer, answers } from '@quittance/shared/http-answers';
import { type Field, rules } from '@quittance/shared/validation';
import { z } from 'zod';
import { PASSWORD_CHARACTERS_MAX, type PasswordRefusal } from '../domain/password.ts';
import { roles } from '../domain/roles.ts';
import type { Ports } from '../ports.ts';

const EMAIL_CHARACTERS_MAX = 254;
const NAME_CHARACTERS_MAX = 255;
/** More is not even hashed. */
const GIVEN_CHARACTERS_MAX = 4 * PASSWORD_CHARACTERS_MAX;

/** Not as other texts: what is in front and behind belongs to it. */
const isPassword = (input: unknown): input is string =>
  typeof input === 'string' && input !== '' && input.length <= GIVEN_CHARACTERS_MAX && input.isWellFormed();

const problemOf = (attribute: string) => ({
  error: `The ${attribute} must be a string of up to ${PASSWORD_CHARACTERS_MAX} characters.`,
});
const schema = { type: 'string', minLength: 1, maxLength: GIVEN_CHARACTERS_MAX } as const;

const passwordField: Field<string> = (attribute) =>
  z.custom<string>(isPassword, problemOf(attribute)).meta(schema);

const optionalPassword: Field<string | null> = (attribute) =>
  z
    .custom<string | null | undefined>(
      (input) => input === undefined || input === null || isPassword(input),
      problemOf(attribute),
    )
    .optional()
    .transform((input) => input ?? null)
    .meta({ ...schema, type: ['string', 'null'] });

const readNothing = form({});

/** Refuses a body with fields before anything is done. */
export const withoutFields =
  <A extends { input: unknown }>(answer: (asked: A, ports: Ports) => Promise<Answer>) =>
  async (asked: A, ports: Ports): Promise<Answer> => {
    const read = readNothing(asked.input);
    return read.ok ? answer(asked, ports) : answers.invalid(read.refusal);
  };

const CODE_CHARACTERS_MAX = 100;
const code = rules.text(CODE_CHARACTERS_MAX).optional;
/** The first code of an app. */
export const readCode = form({ code: rules.text(CODE_CHARACTERS_MAX).required });

export const readSignIn = form({
  email: rules.text(EMAIL_CHARACTERS_MAX).required,
  password: passwordField,
  code,
  account_id: rules.text(NAME_CHARACTERS_MAX).optional,
});

export const readStepUp = form({ password: passwordField, code });

export const readPasswordChange = form({ current_password: passwordField, password: passwordField });

const role = rules.oneOf(roles).required;
export const readRole = form({ role });
export const readInvitation = form({ email: rules.text(EMAIL_CHARACTERS_MAX).required, role });

export const readAcceptance = form({
  token: rules.text(NAME_CHARACTERS_MAX).required,
  name: rules.text(NAME_CHARACTERS_MAX).optional,
  password: optionalPassword,
});

const problems = {
  too_short: [
    'The password must be at least 12 characters.',
    'A few words that nobody would guess are enough.',
  ],
  too_long: [`The password must not be greater than ${PASSWORD_CHARACTERS_MAX} characters.`, 'Shorten it.'],
  common: ['The password is too common.', 'Take one that nobody else has: many people have this one.'],
  has_email: [
    'The password must not contain the name of the e-mail address.',
    'Take one that has nothing to do with you.',
  ],
} as const satisfies Record<PasswordRefusal, readonly [string, string]>;

export function passwordProblem(why: PasswordRefusal): Answer {
  const [message, hint] = problems[why];
  return answers.invalid({ password: [{ message, hint }] });
}
