import { expect, test } from '@jest/globals';
import { addressParts } from './address-parts.ts';

test('an address is shown with its first and last characters, and loses none', () => {
  const addresses = [
    '0x52908400098527886E0F7030069857D2E4169EE7',
    'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
    '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
    'short',
  ];
  for (const address of addresses) {
    const { start, middle, end } = addressParts(address);
    expect(start + middle + end).toBe(address);
  }
  expect(addressParts('0x52908400098527886E0F7030069857D2E4169EE7')).toMatchObject({
    start: '0x529084',
    end: '169EE7',
  });
});
