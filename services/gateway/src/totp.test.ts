import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { base32, matchingStep, newRecoveryCode, readRecoveryCode, totpCode, totpUri } from './totp.ts';
import { totpSecrets } from './totp-secrets.ts';

const secret = Buffer.from('12345678901234567890');
const at = (seconds: number) => new Date(seconds * 1_000);

describe('a code', () => {
  test.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('at %p is that of RFC 6238, appendix B', (seconds, code) => {
    expect(totpCode(secret, Math.floor(seconds / 30), 8)).toBe(code);
    expect(totpCode(secret, Math.floor(seconds / 30))).toBe(code.slice(2));
  });

  test('counts one step early and one late, and says which step it is of', () => {
    const code = totpCode(secret, 100);
    const found = [98, 99, 100, 101, 102].map((step) => matchingStep(secret, code, at(step * 30)));
    expect(found).toEqual([undefined, 100, 100, 100, undefined]);
    for (const text of ['', '12345', '1234567', 'abcdef', '１２３４５６'])
      expect(matchingStep(secret, text, at(3_000))).toBeUndefined();
  });
});

test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('%j in base 32 is %p, as in RFC 4648', (text, encoded) => {
  expect(base32(Buffer.from(text))).toBe(encoded);
});

test('an app gets the secret with who and where it is for', () => {
  const { protocol, host, pathname, searchParams } = new URL(
    totpUri(secret, 'a+b@shop.example', 'pay.example'),
  );
  expect([protocol, host, decodeURIComponent(pathname)]).toEqual([
    'otpauth:',
    'totp',
    '/pay.example:a+b@shop.example',
  ]);
  expect(Object.fromEntries(searchParams)).toEqual({ secret: base32(secret), issuer: 'pay.example' });
});

test('a recovery code is read however it is typed', () => {
  const code = newRecoveryCode(randomBytes);
  expect(code).toMatch(/^(?:[a-z2-7]{4}-){5}[a-z2-7]{4}$/);
  for (const typed of [code, code.toUpperCase(), code.replaceAll('-', ' '), ` ${code.replaceAll('-', '')} `])
    expect(readRecoveryCode(typed)).toBe(code);
  for (const typed of ['', '123456', `${code}a`, code.replace(/.$/, '1')])
    expect(readRecoveryCode(typed)).toBeUndefined();
});

describe('an encrypted secret', () => {
  const key = 'k'.repeat(32);
  const encrypted = totpSecrets(key).encrypt(secret, 'per_1');

  test('is decrypted with the same key for the same person', () => {
    expect(totpSecrets(key).decrypt(encrypted, 'per_1')).toEqual(secret);
    expect(totpSecrets(key).encrypt(secret, 'per_1')).not.toEqual(encrypted);
    expect(encrypted.includes(secret)).toBe(false);
  });

  test('cannot be decrypted for another person, with another key, or when a byte was changed', () => {
    expect(() => totpSecrets(key).decrypt(encrypted, 'per_2')).toThrow();
    expect(() => totpSecrets('l'.repeat(32)).decrypt(encrypted, 'per_1')).toThrow();
    for (let i = 1; i < encrypted.length; i++) {
      const changed = Buffer.from(encrypted);
      changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
      expect(() => totpSecrets(key).decrypt(changed, 'per_1')).toThrow();
    }
  });
});
