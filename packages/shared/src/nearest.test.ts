import { expect, test } from '@jest/globals';
import { didYouMean, editDistance, nearest } from './nearest.ts';

const symbols = ['BTC', 'ETH', 'SOL', 'USDC_ERC20', 'USDC_SOL'];
const fields = ['asset', 'amount', 'expires_in', 'external_id', 'succeed_url', 'timeout_url', 'perPage'];

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['abc', '', 3],
  ['kitten', 'sitting', 3],
  ['amuont', 'amount', 1],
  ['address', 'adress', 1],
])('the distance from %j to %j is %i', (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
  expect(editDistance(b, a)).toBe(distance);
});

test.each([
  ['eth', symbols, ['ETH']],
  ['usdc-erc20', symbols, ['USDC_ERC20']],
  ['USDC', symbols, ['USDC_ERC20', 'USDC_SOL']],
  ['ethereum', symbols, ['ETH']],
  ['USDC_ERC2', symbols, ['USDC_ERC20']],
  ['DOGE', symbols, []],
  ['success_url', fields, ['succeed_url']],
  ['externalId', fields, ['external_id']],
  ['per_page', fields, ['perPage']],
  ['ammount', fields, ['amount']],
  ['aseet', fields, ['asset']],
  ['webhook', fields, []],
  ['__proto__', fields, []],
  ['_', fields, []],
  ['x'.repeat(60_000), fields, []],
])('the names near %j are found', (given, known, near) => {
  expect(nearest(given, known)).toEqual(near);
});

test('the question names all that are as near', () => {
  expect(didYouMean('USDC', symbols)).toBe('Did you mean USDC_ERC20 or USDC_SOL?');
  expect(didYouMean('DOGE', symbols)).toBeUndefined();
});
