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
