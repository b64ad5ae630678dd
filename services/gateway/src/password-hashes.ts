import * as crypto from 'node:crypto';
import { argon2idAsync } from '@noble/hashes/argon2.js';
import { Unavailable } from '@quittance/shared/http';
import { invariant } from '@quittance/shared/result';

/** What a hash costs. */
export type HashCost = { memoryKib: number; passes: number };
/** As OWASP's Password Storage Cheat Sheet has it for argon2id: 19 MiB, two passes, no parallel parts. */
export const recommendedCost: HashCost = { memoryKib: 19_456, passes: 2 };

const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Each takes a thread of Node's four, and its memory. */
const AT_ONCE = 2;
const WAITING_MAX = 20;

/** `$argon2id$v=19$m=…,t=…,p=1$salt$hash`, the form of PHC. */
const FORM = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=1\$([\w+/]+)\$([\w+/]+)$/;
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

type Computation = { password: string; salt: Uint8Array } & HashCost;
type Argon2id = (of: Computation) => Promise<Buffer>;

/** In JavaScript: about ten times slower, with pauses for other requests. */
export const argon2idInJavaScript: Argon2id = async ({ password, salt, memoryKib: m, passes: t }) =>
  Buffer.from(await argon2idAsync(password, salt, { m, t, p: 1, dkLen: HASH_BYTES }));

/** Node's own has been there since 24.7, and npm has an older Node 24 for macOS on arm64. */
const argon2id: Argon2id = (of) =>
  'argon2' in crypto
    ? new Promise((resolve, reject) => {
        const { password: message, salt: nonce, memoryKib: memory, passes } = of;
        const parameters = { message, nonce, memory, passes, parallelism: 1, tagLength: HASH_BYTES };
        crypto.argon2('argon2id', parameters, (error, hash) =>
          error === null ? resolve(hash) : reject(error),
        );
      })
    : argon2idInJavaScript(of);

export type PasswordHashes = ReturnType<typeof passwordHashes>;

/** Hashes passwords, few at a time: with more than can wait the answer is 503, so that others' requests are not held up. */
export function passwordHashes(cost: HashCost = recommendedCost, compute: Argon2id = argon2id) {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function inTurn(of: Computation): Promise<Buffer> {
    if (running >= AT_ONCE) {
      if (waiting.length >= WAITING_MAX) throw new Unavailable('too many passwords are being checked');
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await compute(of);
    } finally {
      // The place goes on to the next one, or is free.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return {
    async hash(password: string): Promise<string> {
      const salt = crypto.randomBytes(SALT_BYTES);
      const hash = await inTurn({ password, salt, ...cost });
      return `$argon2id$v=19$m=${cost.memoryKib},t=${cost.passes},p=1$${text(salt)}$${text(hash)}`;
    },
    /**
     * Whether it is the password of this hash.
     * @param stored null of somebody who does not exist: as much work, and never right
     */
    async verify(password: string, stored: string | null): Promise<boolean> {
      if (stored === null) {
        await inTurn({ password, salt: crypto.randomBytes(SALT_BYTES), ...cost });
        return false;
      }
      const [, memory, passes, salt = '', hash = ''] = FORM.exec(stored) ?? [];
      invariant(memory !== undefined && passes !== undefined, 'a stored hash of a password has its form');
      const computed = await inTurn({
        password,
        salt: Buffer.from(salt, 'base64'),
        // eslint-disable-next-line no-restricted-syntax -- of the hash
        memoryKib: Number.parseInt(memory, 10),
        // eslint-disable-next-line no-restricted-syntax -- of the hash
        passes: Number.parseInt(passes, 10),
      });
      return crypto.timingSafeEqual(computed, Buffer.from(hash, 'base64'));
    },
  };
}
