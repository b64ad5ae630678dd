import { hash, randomBytes } from 'node:crypto';

/** 256 random bits in base64url, and the hash that is stored of it. */
export function newSecret(prefix = ''): { secret: string; digest: Buffer } {
  const secret = `${prefix}${randomBytes(32).toString('base64url')}`;
  return { secret, digest: digestOf(secret) };
}

export const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');
