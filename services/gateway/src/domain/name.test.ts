import { expect, test } from '@jest/globals';
import { readName } from './name.ts';

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
])('%j', (text, name) => {
  expect(readName(text)).toBe(name);
});
