import { expect, test } from '@jest/globals';
import type { TokenId } from '@quittance/shared/ids';
import { createTokenUses, recentlySeen } from './memory.ts';

const token = 'tok_1' as TokenId;
const at = (seconds: number) => new Date(seconds * 1000);
const ip = '203.0.113.7';
const use = (seconds: number) => ({ at: at(seconds), ip });

test('a token is noted at most once a minute', () => {
  const uses = createTokenUses();
  uses.note(token, at(0), ip);
  uses.note(token, at(1), ip);
  expect(uses.take()).toEqual(new Map([[token, use(0)]]));
  uses.note(token, at(59), ip);
  expect(uses.take()).toEqual(new Map());
  uses.note(token, at(60), ip);
  expect(uses.take()).toEqual(new Map([[token, use(60)]]));
});

test('what could not be written is not lost, and never replaces what is newer', () => {
  const uses = createTokenUses();
  uses.note(token, at(0), ip);
  const taken = uses.take();
  uses.putBack(taken);
  expect(uses.take()).toEqual(new Map([[token, use(0)]]));
  uses.note(token, at(70), ip);
  uses.putBack(taken);
  expect(uses.take()).toEqual(new Map([[token, use(70)]]));
});

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
