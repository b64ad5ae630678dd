import { hash, sign, verify } from 'node:crypto';
import { z } from 'zod';
import type { Service } from './events.ts';
import type { GatewayPublicKeys, GatewaySigningKey } from './gateway-keys.ts';
import {
  type AccountId,
  type ActorId,
  type AssertionId,
  newAssertionId,
  type PersonId,
  type TokenId,
} from './ids.ts';

/** The gateway's assertion of whose request it is. What a client sends under this name is dropped there. */
export const IDENTITY_HEADER = 'x-quittance-identity';
/** Of a request, whose body is read before its assertion is compared with it. */
export const BODY_BYTES_MAX = 64 * 1024;
/**
 * Less than a gateway waits for an answer: a service that was held up does not begin on a request whose client has
 * long been told that it was lost.
 */
const MAX_AGE_MS = 12_000;
/** Clocks must agree within this time. A request of a gateway whose clock is behind has as much less to come here. */
const AHEAD_MAX_MS = 5_000;

/** `v1.<key id>.<claims>.<signature>`, all but the version in base64url. The signature is of what stands before it. */
const FORM = /^(v1\.([\w-]{11})\.([\w-]+))\.([\w-]{86})$/;

/**
 * Whose request it is, by which API token or which person, and what may be done; without `scopes` everything. A former gateway
 * names neither. `operator`: the request is one of an operator, and of no account.
 */
export type Identity = {
  account: AccountId;
  token?: TokenId | undefined;
  person?: PersonId | undefined;
  scopes?: readonly string[] | undefined;
  operator?: true | undefined;
};

/** To whom the gateway asserts whose request it is: a service, or the process that pays with test money in a sandbox. */
export type Receiver = Service | 'sandbox';

/** A request as a service receives it. `path` has the query. */
export type AssertedRequest = { receiver: Receiver; method: string; path: string };

/** What a service knows of a request whose assertion is right but for its body: see `isBodyOf`. */
export type Assertion = { id: AssertionId; identity: Identity; bodyHash: string };

const claimsForm = z.object({
  id: z.string(),
  to: z.string(),
  account: z.string(),
  token: z.string().optional(),
  person: z.string().optional(),
  scopes: z.array(z.string()).optional(),
  operator: z.literal(true).optional(),
  method: z.string(),
  /** SHA-256 of path and query in base64url: these may be as long as all headers together. */
  path: z.string(),
  /** SHA-256 of the body in base64url, also of an empty one. */
  body: z.string(),
  /** When the gateway admitted the request, in milliseconds since 1970. */
  at: z.number(),
});
type Claims = z.infer<typeof claimsForm>;

const digestOf = (data: string | Uint8Array): string => hash('sha256', data, 'base64url');

/**
 * Asserts whose request this is, for twelve seconds and this request alone. Each assertion has an id of its own: what moves
 * money is stored with it, once.
 */
export function signIdentity(
  { id, key }: GatewaySigningKey,
  { account, token, person, scopes, operator }: Identity,
  { receiver, method, path, body }: AssertedRequest & { body: Uint8Array },
  now: Date,
): string {
  const claims: Claims = {
    id: newAssertionId(now),
    to: receiver,
    account,
    ...(token !== undefined && { token }),
    ...(person !== undefined && { person }),
    ...(scopes !== undefined && { scopes: [...scopes] }),
    ...(operator !== undefined && { operator }),
    method,
    path: digestOf(path),
    body: digestOf(body),
    at: now.getTime(),
  };
  const signed = `v1.${id}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

/**
 * The assertion in the header, 'stale' or 'ahead' when it is of this request but older or younger than a request can be, or
 * undefined when it is missing, forged or of another request. Its body is not compared yet, so that a body without a right
 * assertion need not be read.
 */
export function verifyIdentity(
  keys: GatewayPublicKeys,
  header: unknown,
  request: AssertedRequest,
  now: Date,
): Assertion | 'stale' | 'ahead' | undefined {
  const claims = claimsIn(keys, header);
  if (claims === undefined || !isOf(claims, request)) return undefined;
  const { id, account, token, person, scopes, operator, body, at } = claims;
  const age = now.getTime() - at;
  if (age > MAX_AGE_MS) return 'stale';
  if (age < -AHEAD_MAX_MS) return 'ahead';
  return {
    id: id as AssertionId,
    identity: {
      account: account as AccountId,
      ...(token !== undefined && { token: token as TokenId }),
      ...(person !== undefined && { person: person as PersonId }),
      ...(scopes !== undefined && { scopes }),
      ...(operator !== undefined && { operator }),
    },
    bodyHash: body,
  };
}

/** A request as a service received it, with the header of its assertion: it shows later what a merchant has asked for. */
export type RequestProof = { assertion: string; method: string; path: string; body: Uint8Array };

/** A request of which the gateway has asserted whose it is. `at`: when the gateway admitted it. */
export type SignedRequest = Omit<RequestProof, 'assertion'> & {
  id: AssertionId;
  account: AccountId;
  at: Date;
};

/**
 * The request of a proof, however old it is: how old it may be is the caller's decision. Undefined when the assertion is
 * forged, or is of another receiver, method, path or body.
 */
export function verifyProof(
  keys: GatewayPublicKeys,
  receiver: Service,
  { assertion, method, path, body }: RequestProof,
): SignedRequest | undefined {
  const claims = claimsIn(keys, assertion);
  if (claims === undefined || !isOf(claims, { receiver, method, path })) return undefined;
  if (claims.body !== digestOf(body)) return undefined;
  const { id, account, at } = claims;
  return { id: id as AssertionId, account: account as AccountId, at: new Date(at), method, path, body };
}

/** Who acts. However many sessions a person has, it is one: what a person asks for the same person does not approve. */
export const actorOf = ({ token, person }: Pick<Identity, 'token' | 'person'>): ActorId | undefined =>
  person ?? token;

/** Who acts by an assertion that was verified before; undefined when a former gateway has made it. */
export function actorAsserted(assertion: string): ActorId | undefined {
  const [, , , text] = FORM.exec(assertion) ?? [];
  return text === undefined ? undefined : actorOf((readClaims(text) ?? {}) as Partial<Identity>);
}

/** What the gateway has signed; undefined when it has not. */
function claimsIn(keys: GatewayPublicKeys, header: unknown): Claims | undefined {
  if (typeof header !== 'string') return undefined;
  const [, signed = '', keyId = '', text = '', signature = ''] = FORM.exec(header) ?? [];
  const key = keys.get(keyId);
  if (key === undefined) return undefined;
  if (!verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64url'))) return undefined;
  return readClaims(text);
}

const readClaims = (text: string): Claims | undefined =>
  claimsForm.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))).data;

const isOf = (claims: Claims, { receiver, method, path }: AssertedRequest): boolean =>
  claims.to === receiver && claims.method === method && claims.path === digestOf(path);

/** Whether these are the bytes that the gateway has sent. */
export const isBodyOf = ({ bodyHash }: Assertion, body: Uint8Array): boolean => bodyHash === digestOf(body);
