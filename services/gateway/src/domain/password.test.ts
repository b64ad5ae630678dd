import { describe, expect, test } from '@jest/globals';
import { canonicalEmail, canonicalPassword, refusedPassword } from './password.ts';

const common = new Set(['password', 'correcthorse', 'qwerty123456']);
const refused = (password: string, email = 'anna@shop.example') => refusedPassword(password, email, common);

describe('a password', () => {
  test.each([
    ['elevenchars', 'too_short'],
    ['🙂'.repeat(11), 'too_short'],
    ['twelve chars', undefined],
    ['x7'.repeat(6), 'common'],
    ['vwxyz'.repeat(3), undefined],
    ['abcd'.repeat(4), 'common'],
    [`abcdefgh${'i'.repeat(120)}`, undefined],
    [`abcdefgh${'i'.repeat(121)}`, 'too_long'],
    ['Qwerty123456', 'common'],
    ['CORRECTHORSE!!1', 'common'],
    ['2024-password-2024', 'common'],
    ['my password is long', undefined],
    ['I am Anna of the shop', 'has_email'],
  ])('%j: %p', (password, why) => {
    expect(refused(password)).toBe(why);
  });

  test('may contain an address whose name has fewer than four characters', () => {
    expect(refused('a joker and a king', 'kin@shop.example')).toBeUndefined();
    expect(refused('a joker and a king', 'king@shop.example')).toBe('has_email');
  });

  test('is the same however its letters are composed', () => {
    expect(canonicalPassword('cafe\u0301')).toBe(canonicalPassword('caf\u00e9'));
  });
});

test.each([
  [' Anna@Shop.EXAMPLE ', 'anna@shop.example'],
  ['ａnna@shop.example', 'anna@shop.example'],
  ['anna', undefined],
  ['an na@shop.example', undefined],
  ['anna@@shop.example', undefined],
  ['anna@shop\u0000.example', undefined],
  ['anna@shop.example\ud800', undefined],
  [`${'a'.repeat(244)}@a.example`, `${'a'.repeat(244)}@a.example`],
  [`${'a'.repeat(245)}@a.example`, undefined],
])('the address %j is %p', (text, email) => {
  expect(canonicalEmail(text)).toBe(email);
});
