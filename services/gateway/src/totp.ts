import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Random } from '@quittance/shared/ids';

/** Time-based one-time passwords (RFC 6238) as the usual apps have them: SHA-1, six digits, 30 seconds. */

const STEP_MS = 30_000;
const SECRET_BYTES = 20;
/** Clocks of people differ by one step, or the code is typed late. */
const STEPS_AROUND = 1;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export const newTotpSecret = (random: Random): Buffer => Buffer.from(random(SECRET_BYTES));

const stepAt = (now: Date): number => Math.floor(now.getTime() / STEP_MS);

/** The code of a time step (RFC 4226, 5.3). */
export function totpCode(secret: Uint8Array, step: number, digits = 6): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 15;
  const truncated = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(truncated % 10 ** digits).padStart(digits, '0');
}

const isTotpCode = (text: string): boolean => /^\d{6}$/.test(text);

/** The time step that a code is of, at this time; undefined when it is of none. */
export function matchingStep(secret: Uint8Array, code: string, now: Date): number | undefined {
  if (!isTotpCode(code)) return undefined;
  const given = Buffer.from(code);
  const steps = Array.from({ length: 2 * STEPS_AROUND + 1 }, (_, i) => stepAt(now) - STEPS_AROUND + i);
  return steps.filter((step) => timingSafeEqual(Buffer.from(totpCode(secret, step)), given)).at(-1);
}

/** Base 32 without padding (RFC 4648), as the apps take it. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xff_ff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += alphabet.charAt((value >>> (bits - 5)) & 31);
  }
  return bits === 0 ? text : text + alphabet.charAt((value << (5 - bits)) & 31);
}

/** What an app reads from a QR code. */
export function totpUri(secret: Uint8Array, email: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}

const CODE_BYTES = 15;

/** 120 random bits, in groups that can be copied by hand. */
export const newRecoveryCode = (random: Random): string =>
  (base32(random(CODE_BYTES)).match(/.{4}/g) ?? []).join('-').toLowerCase();

/** The form that is hashed, of what somebody has typed; undefined when it cannot be a recovery code. */
export function readRecoveryCode(text: string): string | undefined {
  const letters = text.toLowerCase().replace(/[\s-]/g, '');
  return /^[a-z2-7]{24}$/.test(letters) ? (letters.match(/.{4}/g) ?? []).join('-') : undefined;
}
