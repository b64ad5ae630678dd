import { expect, test } from '@jest/globals';
import { bearerToken } from './bearer.ts';

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
  ['two headers', ['Authorization', 'Bearer abc', 'authorization', 'Bearer def'], undefined],
  ['the same twice', ['Authorization', 'Bearer abc', 'Authorization', 'Bearer abc'], undefined],
])('%s', (_, headers, token) => {
  expect(bearerToken(headers)).toBe(token);
});
