import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { bearerToken, hasAuthorization, hintOf, isToken, makeToken, readName, tokenState } from './token.ts';

test('a token is a prefix, 256 bits of letters and digits, and a checksum', () => {
  const token = makeToken(randomBytes);
  expect(token).toMatch(/^qt_[0-9A-Za-z]{49}$/);
  expect(isToken(token)).toBe(true);
  expect(hintOf(token)).toBe(token.slice(-4));
});

test('a byte that would make some characters likelier is drawn again, and no character too many', () => {
  const draws = [Uint8Array.from({ length: 43 }, (_, i) => (i === 0 ? 248 : i)), new Uint8Array(43).fill(61)];
  const token = makeToken(() => draws.shift() ?? new Uint8Array());
  expect(token.slice(3, -6)).toBe('123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefgz');
});

test('the checksum is CRC-32 in base 62', () => {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const token = makeToken(randomBytes);
  let crc = 0;
  for (const character of token.slice(46)) crc = crc * 62 + alphabet.indexOf(character);
  expect(crc).toBe(crc32(token.slice(3, 46)));
});

test('a token of an earlier release stays valid', () => {
  expect(isToken('qt_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg37cCQ0')).toBe(true);
});

test('every character is as likely as any other', () => {
  const counts = new Map<string, number>();
  const tokens = 3_000;
  for (let i = 0; i < tokens; i++) {
    for (const character of makeToken(randomBytes).slice(3, 46)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  const expected = (tokens * 43) / 62;
  expect(counts.size).toBe(62);
  // Without the refusal of bytes from 248 on, eight characters would come 25 % more often.
  for (const count of counts.values()) expect(Math.abs(count - expected) / expected).toBeLessThan(0.12);
});

test('one changed, missing or added character is found', async () => {
  await assertProperty(
    fc.property(
      fc.uint8Array({ minLength: 64, maxLength: 64 }),
      fc.nat(51),
      fc.stringMatching(/^[0-9A-Za-z]$/),
      (bytes, at, character) => {
        const token = makeToken((size) => bytes.subarray(0, size).map((byte) => byte % 248));
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        expect(isToken(changed)).toBe(changed === token);
        expect(isToken(token.slice(0, at) + token.slice(at + 1))).toBe(false);
        expect(isToken(token + character)).toBe(false);
      },
    ),
  );
});

test.each(['', 'qt_', 'Bearer', `qt_${'0'.repeat(49)}`, `QT_${'0'.repeat(49)}`, `qt_${'é'.repeat(49)}`])(
  '%j is no token',
  (text) => expect(isToken(text)).toBe(false),
);

test.each<[string, string[], string | undefined]>([
  ['a bearer token', ['Authorization', 'Bearer abc'], 'abc'],
  ['names and schemes in any case', ['AUTHORIZATION', 'bEARER abc'], 'abc'],
  ['more than one space before it', ['authorization', 'Bearer   abc'], 'abc'],
  ['among others', ['Host', 'x', 'Authorization', 'Bearer abc', 'Accept', '*/*'], 'abc'],
  ['none', ['Host', 'x'], undefined],
  ['no token after the scheme', ['Authorization', 'Bearer'], undefined],
  ['an empty token', ['Authorization', 'Bearer '], undefined],
  ['an empty header', ['Authorization', ''], undefined],
  ['a token without a scheme', ['Authorization', 'abc'], undefined],
  ['a token with a space', ['Authorization', 'Bearer abc def'], undefined],
  ['another scheme', ['Authorization', 'Basic abc'], undefined],
  ['a scheme that only begins the same', ['Authorization', 'Bearerabc'], undefined],
  ['a word before the scheme', ['Authorization', 'x Bearer abc'], undefined],
  ['a value that is the name of the header', ['X', 'Authorization', 'Bearer abc', 'x'], undefined],
  ['two headers', ['Authorization', 'Bearer abc', 'authorization', 'Bearer def'], undefined],
  ['the same twice', ['Authorization', 'Bearer abc', 'Authorization', 'Bearer abc'], undefined],
])('reads the bearer token of a request: %s', (_, headers, token) => {
  expect(bearerToken(headers)).toBe(token);
});

const now = new Date('2026-01-02T00:00:00Z');
const before = new Date('2026-01-01T00:00:00Z');
const after = new Date('2026-01-03T00:00:00Z');

test.each([
  [null, null, 'active'],
  [null, after, 'active'],
  [null, now, 'expired'],
  [null, before, 'expired'],
  [before, null, 'revoked'],
  [before, before, 'revoked'],
])('a token that is revoked %s and expires %s is %s', (revokedAt, expiresAt, state) => {
  expect(tokenState({ revokedAt, expiresAt }, now)).toBe(state);
});

test.each([
  ['shop', 'shop'],
  ['  Büro München ', 'Büro München'],
  ['x'.repeat(255), 'x'.repeat(255)],
  ['😀'.repeat(255), '😀'.repeat(255)],
  ['', undefined],
  ['   ', undefined],
  ['x'.repeat(256), undefined],
  ['a\nb', undefined],
  ['a\u001b[31mb', undefined],
  ['\ud800', undefined],
])('the name %j is read as %j', (text, name) => {
  expect(readName(text)).toBe(name);
});

test('a request says who it is from by one header of any scheme', () => {
  expect(hasAuthorization(['Host', 'Authorization'])).toBe(false);
  expect(hasAuthorization(['authorization', 'Basic x'])).toBe(true);
});
