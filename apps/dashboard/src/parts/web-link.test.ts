import { expect, test } from '@jest/globals';
import { isWebLink } from './web-link.ts';

test('only addresses on the web become links', () => {
  for (const link of [
    'https://shop.example/o?id=1#x',
    'http://127.0.0.1:9500/pay/inv_1',
    'HTTPS://A.EXAMPLE',
  ])
    expect(isWebLink(link)).toBe(true);
  for (const other of [
    'javascript:alert(1)',
    ' data:text/html,x',
    '/orders',
    'shop.example',
    'mailto:a@b.example',
    '',
  ])
    expect(isWebLink(other)).toBe(false);
});
