import { expect, test } from '@jest/globals';
import { recentlySeen } from './recently-seen.ts';

test('what was used longest ago is forgotten first', () => {
  const seen = recentlySeen<number>(2);
  seen.set('a', 1);
  seen.set('b', 2);
  expect(seen.get('a')).toBe(1);
  seen.set('c', 3);
  expect([seen.get('a'), seen.get('b'), seen.get('c')]).toEqual([1, undefined, 3]);
  seen.delete('a');
  seen.set('d', 4);
  expect([seen.get('a'), seen.get('c'), seen.get('d')]).toEqual([undefined, 3, 4]);
});
