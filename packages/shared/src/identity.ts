import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { AccountId } from './ids.ts';

/** The gateway's word on whose request it is. What a client sends under this name is dropped there. */
export const IDENTITY_HEADER = 'x-quittance-identity';
/**
 * Less than a gateway waits for an answer: a service that was held up does not begin on a request whose client has
 * long been told that it was lost. Clocks must agree within five seconds, so a request may take seven to come here.
 */
const MAX_AGE_MS = 12_000;

export type Identity = { account: AccountId };

const claim = z.object({ account: z.string(), at: z.number() });

/** Made once: a secret given as a text becomes a key again for each request. */
const keys = new Map<string, KeyObject>();

function keyOf(secret: string): KeyObject {
  const key = keys.get(secret) ?? createSecretKey(secret, 'utf8');
  keys.set(secret, key);
  return key;
}

const sign = (secret: string, body: string): Buffer =>
  createHmac('sha256', keyOf(secret)).update(body).digest();

/** `base64url(JSON).base64url(HMAC-SHA256)`; good for twelve seconds. */
export function signIdentity(secret: string, identity: Identity, now: Date): string {
  const body = Buffer.from(JSON.stringify({ account: identity.account, at: now.getTime() })).toString(
    'base64url',
  );
  return `${body}.${sign(secret, body).toString('base64url')}`;
}

/** The identity in the header, 'stale' when it is right but old, or undefined when it is missing or forged. */
export function verifyIdentity(secret: string, header: unknown, now: Date): Identity | 'stale' | undefined {
  if (typeof header !== 'string') return undefined;
  const [body = '', signature = ''] = header.split('.');
  const given = Buffer.from(signature, 'base64url');
  const right = sign(secret, body);
  if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
  const parsed = claim.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')));
  if (!parsed.success) return undefined;
  if (Math.abs(now.getTime() - parsed.data.at) > MAX_AGE_MS) return 'stale';
  return { account: parsed.data.account as AccountId };
}
