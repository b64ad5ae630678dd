const CHARACTERS_MIN = 12;
export const PASSWORD_CHARACTERS_MAX = 128;
/** A shorter part of an address, such as "jo", is in too many words. */
const NAME_CHARACTERS_MIN = 4;

/** The form in which a password is hashed: the same key presses, however a keyboard composes them. */
export const canonicalPassword = (text: string): string => text.normalize('NFKC');

/** A canonical address: two spellings of one are one person. Undefined of a text that is none. */
export function canonicalEmail(text: string): string | undefined {
  const email = text.normalize('NFKC').trim().toLowerCase();
  return /^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u.test(email) && email.isWellFormed() && [...email].length <= 254
    ? email
    : undefined;
}

/** Why a password is refused. */
export type PasswordRefusal = 'too_short' | 'too_long' | 'common' | 'has_email';

/**
 * Whether somebody may have this password. There are no rules about kinds of characters.
 * @param common words in lower case: the password is none of them, also not with digits or signs around it
 */
export function refusedPassword(
  password: string,
  email: string,
  common: ReadonlySet<string>,
): PasswordRefusal | undefined {
  const characters = [...password];
  if (characters.length < CHARACTERS_MIN) return 'too_short';
  if (characters.length > PASSWORD_CHARACTERS_MAX) return 'too_long';
  const lower = password.toLowerCase();
  const word = lower.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  const isCommon = common.has(lower) || common.has(word) || new Set(characters).size < 5;
  if (isCommon) return 'common';
  const [name = ''] = email.split('@');
  return name.length >= NAME_CHARACTERS_MIN && lower.includes(name) ? 'has_email' : undefined;
}
