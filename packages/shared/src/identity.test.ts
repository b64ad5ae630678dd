import { createHmac } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { describe, expect, test } from '@jest/globals';
import { newGatewayKeys, publicKeyOf, readPublicKeys, readSigningKey } from './gateway-keys.ts';
import {
  type AssertedRequest,
  type Assertion,
  actorAsserted,
  isBodyOf,
  signIdentity,
  verifyIdentity,
} from './identity.ts';
import type { AccountId, PersonId, TokenId } from './ids.ts';
import { invariant } from './result.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const account = 'acc_1' as AccountId;

function aKey() {
  const { privateKey, publicKey } = newGatewayKeys();
  const [signing, keys] = [readSigningKey(privateKey), readPublicKeys(publicKey)];
  invariant(signing !== undefined && keys !== undefined, 'new keys can be read');
  return { privateKey, publicKey, signing, keys };
}
const { signing, keys, privateKey, publicKey } = aKey();

const request = { receiver: 'payouts', method: 'POST', path: '/api/payouts?a=1' } as const;
const body = Buffer.from('{"amount":1.000000000000000001}');
const signed = signIdentity(signing, { account }, { ...request, body }, now);
const verified = (header: unknown, asked: AssertedRequest = request, at = now, by = keys) =>
  verifyIdentity(by, header, asked, at);
const assertionIn = (header: string): Assertion => {
  const assertion = verified(header);
  invariant(typeof assertion === 'object', 'the assertion is right');
  return assertion;
};

describe('an assertion', () => {
  test('says whose request it is, and with which scopes, to the receiver of this request', () => {
    expect(verified(signed)).toEqual({
      id: expect.stringMatching(/^asr_[0-9a-z]{36}$/),
      identity: { account },
      bodyHash: expect.any(String),
    });
    const scoped = signIdentity(signing, { account, scopes: ['payouts:read'] }, { ...request, body }, now);
    expect(assertionIn(scoped).identity).toEqual({ account, scopes: ['payouts:read'] });
    const named = signIdentity(signing, { account, token: 'tok_1' as TokenId }, { ...request, body }, now);
    expect(assertionIn(named).identity).toEqual({ account, token: 'tok_1' });
    const person = { account, person: 'per_1' as PersonId };
    const signedIn = signIdentity(signing, person, { ...request, body }, now);
    expect(assertionIn(signedIn).identity).toEqual(person);
    const actors = [named, signedIn, scoped, 'v1'].map(actorAsserted);
    expect(actors).toEqual(['tok_1', 'per_1', undefined, undefined]);
    const none = signIdentity(signing, { account, scopes: [] }, { ...request, body }, now);
    expect(assertionIn(none).identity).toEqual({ account, scopes: [] });
  });

  test.each<[string, AssertedRequest]>([
    ['receiver', { ...request, receiver: 'ledger' }],
    ['method', { ...request, method: 'GET' }],
    ['path', { ...request, path: '/api/payout-batches?a=1' }],
    ['path with a slash at its end', { ...request, path: '/api/payouts/?a=1' }],
    ['query', { ...request, path: '/api/payouts?a=2' }],
    ['query that is cut off', { ...request, path: '/api/payouts' }],
  ])('of one %s is none of another', (_what, other) => {
    expect(verified(signed, other)).toBeUndefined();
    // Nor when it is old: what it is not of is not told to come again.
    expect(verified(signed, other, later(60_000))).toBeUndefined();
  });

  test('is of its body alone, byte for byte', () => {
    const assertion = assertionIn(signed);
    expect(isBodyOf(assertion, body)).toBe(true);
    for (const other of ['', ' ', `${body}`.replace('01}', '1}'), `${body}\n`])
      expect(isBodyOf(assertion, Buffer.from(other))).toBe(false);
    const empty = signIdentity(signing, { account }, { ...request, body: Buffer.alloc(0) }, now);
    expect(isBodyOf(assertionIn(empty), Buffer.alloc(0))).toBe(true);
    expect(isBodyOf(assertionIn(empty), body)).toBe(false);
  });

  test('is valid for twelve seconds, and five before it was made, by which clocks may differ', () => {
    for (const ms of [-5_000, 0, 12_000]) expect(verified(signed, request, later(ms))).toMatchObject({});
    for (const ms of [12_001, 60_000]) expect(verified(signed, request, later(ms))).toBe('stale');
    for (const ms of [-60_000, -5_001]) expect(verified(signed, request, later(ms))).toBe('ahead');
  });

  test('has an id of its own, also for the same request at the same time', () => {
    const again = signIdentity(signing, { account }, { ...request, body }, now);
    expect(assertionIn(again).id).not.toBe(assertionIn(signed).id);
  });

  test('with a changed account is refused', () => {
    const [version, id, claims = '', signature] = signed.split('.');
    const changed = Buffer.from(claims, 'base64url').toString().replace('acc_1', 'acc_2');
    expect(changed).toContain('acc_2');
    expect(
      verified([version, id, Buffer.from(changed).toString('base64url'), signature].join('.')),
    ).toBeUndefined();
  });

  test('that is cut off, has too much or is none is refused, also when it is old', () => {
    const [version, id, claims, signature] = signed.split('.');
    const forms = [
      ...Array.from({ length: signed.length }, (_, length) => signed.slice(0, length)),
      `${signed}A`,
      `${signed}.`,
      ` ${signed}`,
      signed.replace('v1.', 'v2.'),
      [version, id, claims, ''].join('.'),
      [version, id, '', signature].join('.'),
      [version, '', claims, signature].join('.'),
      [claims, signature].join('.'),
      [signed],
      undefined,
      null,
    ];
    for (const form of forms) {
      expect(verified(form)).toBeUndefined();
      expect(verified(form, request, later(60_000))).toBeUndefined();
    }
  });

  test('by a key that the service does not know is refused, also under the id of one that it knows', () => {
    const foreign = aKey();
    const byForeign = signIdentity(foreign.signing, { account }, { ...request, body }, now);
    const underKnown = signIdentity(
      { ...foreign.signing, id: signing.id },
      { account },
      { ...request, body },
      now,
    );
    for (const header of [byForeign, underKnown]) expect(verified(header)).toBeUndefined();
    expect(verified(signed, request, now, foreign.keys)).toBeUndefined();
    // What services had before: a secret that both sides know. The public key is none.
    const [head = ''] = [signed.slice(0, signed.lastIndexOf('.'))];
    const mac = createHmac('sha512', publicKey).update(head).digest('base64url');
    expect(verified(`${head}.${mac}`)).toBeUndefined();
  });
});

describe('the keys of the gateway', () => {
  test('change with an overlap: services know both, the gateway signs by the new one, services know the new one', () => {
    const next = aKey();
    const byNext = signIdentity(next.signing, { account }, { ...request, body }, now);
    const knows = (setting: string, header: string) =>
      verified(header, request, now, readPublicKeys(setting)) !== undefined;
    const both = `${publicKey}, ${next.publicKey}`;
    expect([knows(publicKey, signed), knows(publicKey, byNext)]).toEqual([true, false]);
    expect([knows(both, signed), knows(both, byNext)]).toEqual([true, true]);
    expect([knows(next.publicKey, signed), knows(next.publicKey, byNext)]).toEqual([false, true]);
  });

  test('have one public key for each private key', () => {
    expect(privateKey).toMatch(/^gwsk_[\w-]{43}$/);
    expect(publicKey).toMatch(/^gwpk_[\w-]{43}$/);
    expect(publicKeyOf(privateKey)).toBe(publicKey);
    expect(aKey().publicKey).not.toBe(publicKey);
  });

  test.each([
    ['nothing', ''],
    ['a comma', ','],
    ['a prefix', 'gwpk_'],
    ['a private key', privateKey],
    ['a key that is cut off', publicKey.slice(0, -1)],
    ['a key that is too long', `${publicKey}A`],
    ['a key and nothing', `${publicKey},`],
    ['a key and a word', `${publicKey} x`],
  ])('%s is no list of public keys', (_what, text) => expect(readPublicKeys(text)).toBeUndefined());

  test.each([
    ['nothing', ''],
    ['a prefix', 'gwsk_'],
    ['a public key', publicKey],
    ['a key that is cut off', privateKey.slice(0, -1)],
    ['a key that is too long', `${privateKey}A`],
    ['a key after a space', ` ${privateKey}`],
  ])('%s is no private key', (_what, text) => {
    expect(readSigningKey(text)).toBeUndefined();
    expect(publicKeyOf(text)).toBeUndefined();
  });
});

test('signing and checking a request take less than a millisecond together', () => {
  const large = Buffer.alloc(64 * 1024, 'x');
  const once = () => {
    const assertion = verified(signIdentity(signing, { account }, { ...request, body: large }, now));
    invariant(typeof assertion === 'object' && isBodyOf(assertion, large), 'it is right');
  };
  for (let i = 0; i < 50; i++) once();
  // The median, because other suites run beside this one.
  const times = Array.from({ length: 500 }, () => {
    const began = performance.now();
    once();
    return performance.now() - began;
  }).sort((a, b) => a - b);
  expect(times[250]).toBeLessThan(1);
});
