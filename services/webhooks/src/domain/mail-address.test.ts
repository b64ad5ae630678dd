import { expect, test } from '@jest/globals';
import { isMailAddress, readSender } from './mail-address.ts';

const label = 'a'.repeat(63);
/** An address of so many characters, of which 64 are before the sign. */
const long = (characters: number) =>
  `${'x'.repeat(64)}@${label}.${label}.${'b'.repeat(characters - 65 - 64 - 64 - 8)}.example`;

test.each([
  'anna@shop.example',
  'anna.lee+orders@pay.shop.example',
  `${'x'.repeat(64)}@shop.example`,
  long(254),
  `anna@${label}.example`,
])('%s is an address', (text) => {
  expect(isMailAddress(text)).toBe(true);
});

test.each([
  '',
  'anna',
  'anna@shop',
  'anna@@shop.example',
  'anna @shop.example',
  '"anna"@shop.example',
  '.anna@shop.example',
  'anna..lee@shop.example',
  'anna@-shop.example',
  'anna@shop.example\nBcc: eve@evil.example',
  'Anna <anna@shop.example>',
  `${'x'.repeat(65)}@shop.example`,
  long(255),
  `anna@${label}a.example`,
])('%j is no address', (text) => {
  expect(isMailAddress(text)).toBe(false);
});

test.each([
  ['shop@shop.example', { name: '', address: 'shop@shop.example' }],
  ['The Shop <shop@shop.example>', { name: 'The Shop', address: 'shop@shop.example' }],
  ['<shop@shop.example>', { name: '', address: 'shop@shop.example' }],
  ['The, Shop <shop@shop.example>', undefined],
  ['The Shop <shop>', undefined],
  ['The Shop', undefined],
])('%j names the sender %j', (text, sender) => {
  expect(readSender(text)).toEqual(sender);
});
