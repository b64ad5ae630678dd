import { describe, expect, test } from '@jest/globals';
import {
  cookieOf,
  isForeign,
  isForeignSignIn,
  isSteppedUp,
  noCookie,
  sessionToken,
  withoutSession,
} from './session.ts';

const TOKEN = `${'Abc_-123'.repeat(5)}xyz`;
const OTHER = TOKEN.toLowerCase();
const ours = `__Host-quittance_session=${TOKEN}`;

describe('the cookie of a session', () => {
  test('is for all paths of a secure origin, and neither for scripts nor for other sites', () => {
    expect(cookieOf(TOKEN)).toBe(`${ours}; Path=/; Secure; HttpOnly; SameSite=Strict`);
    expect(noCookie).toBe('__Host-quittance_session=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Strict');
  });

  test.each<[string, string | undefined, string | undefined]>([
    ['alone', ours, TOKEN],
    ['among others', `theme=dark; ${ours};lang=de`, TOKEN],
    ['when nothing is between two signs', ` ; ${ours} ;`, TOKEN],
    ['not without a cookie', undefined, undefined],
    ['not when there is none', 'theme=dark', undefined],
    ['not in a cookie whose name only begins so', `__Host-quittance_session2=${TOKEN}`, undefined],
    ['not when there are two', `${ours}; __Host-quittance_session=${OTHER}`, undefined],
    ['not when it is given twice', `${ours}; ${ours}`, undefined],
    ['not when it is too short', ours.slice(0, -1), undefined],
    ['not when it is too long', `${ours}x`, undefined],
    ['not with a sign that no token has', `__Host-quittance_session=${'+'.repeat(43)}`, undefined],
  ])('has the token %s', (_, header, token) => {
    expect(sessionToken(header)).toBe(token);
  });

  test.each([
    [ours, undefined],
    ['', undefined],
    [`${ours}; ${ours}`, undefined],
    [`theme=dark;${ours} ; lang=de`, 'theme=dark; lang=de'],
    [`__Host-quittance_session2=1; ${ours}`, '__Host-quittance_session2=1'],
  ])('is left out: %j becomes %j', (header, others) => {
    expect(withoutSession(header)).toBe(others);
  });
});

test('a step-up holds for ten minutes', () => {
  const at = (ms: number) => isSteppedUp(new Date(5_000), new Date(5_000 + ms));
  expect([at(0), at(599_999), at(600_000), at(3_600_000)]).toEqual([true, true, false, false]);
});

const OWN = 'https://pay.shop.example';
const EVIL = 'https://evil.example';

describe('a request with the cookie of a session', () => {
  test.each<[string, string | undefined, boolean]>([
    ['GET', undefined, false],
    ['GET', 'none', false],
    ['GET', 'same-origin', false],
    ['GET', 'same-site', true],
    ['GET', 'cross-site', true],
    ['HEAD', undefined, false],
    ['HEAD', 'cross-site', true],
  ])('%s of the site %p is foreign: %p, whatever its origin', (method, site, foreign) => {
    for (const origin of [undefined, OWN, EVIL])
      expect(isForeign({ method, origin, site }, OWN)).toBe(foreign);
  });

  test.each<[string | undefined, string | undefined, boolean]>([
    [OWN, undefined, false],
    [OWN, 'same-origin', false],
    [OWN, 'none', true],
    [OWN, 'same-site', true],
    [OWN, 'cross-site', true],
    [undefined, undefined, true],
    [undefined, 'same-origin', true],
    ['null', 'same-origin', true],
    [EVIL, undefined, true],
    [EVIL, 'same-origin', true],
  ])('that changes something, from %p and the site %p, is foreign: %p', (origin, site, foreign) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect(isForeign({ method, origin, site }, OWN)).toBe(foreign);
  });
});

test.each<[string | undefined, string | undefined, boolean]>([
  [undefined, undefined, false],
  [OWN, undefined, false],
  [OWN, 'same-origin', false],
  [undefined, 'same-origin', false],
  [OWN, 'none', true],
  [OWN, 'same-site', true],
  [undefined, 'cross-site', true],
  [EVIL, undefined, true],
  [EVIL, 'same-origin', true],
])('a sign-in from %p and the site %p is foreign: %p', (origin, site, foreign) => {
  expect(isForeignSignIn({ method: 'POST', origin, site }, OWN)).toBe(foreign);
});
