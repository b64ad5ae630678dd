import { crc32 } from 'node:zlib';
import type { Random } from '@quittance/shared/ids';

const PREFIX = 'qt_';
const SECRET_LENGTH = 43;
const CHECK_LENGTH = 6;
const HINT_LENGTH = 4;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 in a byte: bytes from here on would make some characters likelier than others. */
const BYTE_LIMIT = 248;

const form = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECK_LENGTH}}$`);

/**
 * An API token: a prefix that scanners for leaked secrets can find, 256 bits of chance, and a checksum, so
 * that what is mistyped or cut off is known as such without asking the database.
 */
export function makeToken(random: Random): string {
  let secret = '';
  while (secret.length < SECRET_LENGTH) {
    for (const byte of random(SECRET_LENGTH)) {
      if (byte < BYTE_LIMIT && secret.length < SECRET_LENGTH) secret += alphabet.charAt(byte % 62);
    }
  }
  return `${PREFIX}${secret}${checksum(secret)}`;
}

/** Whether a text can be a token at all. */
export function isToken(text: string): boolean {
  if (!form.test(text)) return false;
  const checkAt = PREFIX.length + SECRET_LENGTH;
  return checksum(text.slice(PREFIX.length, checkAt)) === text.slice(checkAt);
}

/** What may be shown of a token for good. */
export const hintOf = (token: string): string => token.slice(-HINT_LENGTH);

/** CRC-32 in base 62. */
function checksum(text: string): string {
  let rest = crc32(text);
  let check = '';
  for (let i = 0; i < CHECK_LENGTH; i++) {
    check = alphabet.charAt(rest % 62) + check;
    rest = Math.floor(rest / 62);
  }
  return check;
}

const bearer = /^Bearer +([^\s]+)$/i;

/**
 * The token of a request's one Authorization header. Undefined when there is none, when it is no bearer
 * token, and when there are two: which of them counts would be anybody's guess.
 * @param rawHeaders names and values in turn, as they came; Node's own view of them hides a second one.
 */
export function bearerToken(rawHeaders: readonly string[]): string | undefined {
  const given = authorizations(rawHeaders);
  return given.length === 1 ? bearer.exec(given[0] ?? '')?.[1] : undefined;
}

const authorizations = (rawHeaders: readonly string[]): string[] =>
  rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'authorization');

/** Whether a request says at all who it is from. */
export const hasAuthorization = (rawHeaders: readonly string[]): boolean =>
  authorizations(rawHeaders).length > 0;

/** When a token was used, and by whom; a client that has gone has no address. */
export type TokenUse = { at: Date; ip: string | undefined };

export const tokenStates = ['active', 'expired', 'revoked'] as const;
export type TokenState = (typeof tokenStates)[number];

/** Whether a token is let in, and why not. Revoked counts more: it was somebody's will. */
export function tokenState(token: { revokedAt: Date | null; expiresAt: Date | null }, now: Date): TokenState {
  if (token.revokedAt !== null) return 'revoked';
  return token.expiresAt !== null && token.expiresAt <= now ? 'expired' : 'active';
}

const NAME_CHARACTERS_MAX = 255;

/** The name of a token or an account: trimmed, one line, 1 to 255 characters. Undefined when it is not that. */
export function readName(text: string): string | undefined {
  const name = text.trim();
  const fits = name !== '' && [...name].length <= NAME_CHARACTERS_MAX;
  // Control characters would garble the terminal of whoever lists it.
  return fits && name.isWellFormed() && !/\p{Cc}/u.test(name) ? name : undefined;
}
