import { expect, test } from '@jest/globals';
import { newInvoiceId, newPayoutId, pooledBytes } from './ids.ts';

test('ids are ordered by time, unique, and of one form', () => {
  const earlier = newInvoiceId(new Date('2026-01-01T00:00:00.000Z'));
  const later = newInvoiceId(new Date('2026-01-01T00:00:00.001Z'));
  expect(earlier < later).toBe(true);
  expect(earlier).toMatch(/^inv_[0-9a-hjkmnp-tv-z]{36}$/);
  const now = new Date();
  expect(new Set(Array.from({ length: 1_000 }, () => newInvoiceId(now))).size).toBe(1_000);
});

test('chance is an argument, so that a run can be repeated', () => {
  const still = (size: number) => new Uint8Array(size).fill(31);
  const now = new Date(0);
  expect(newInvoiceId(now, still)).toBe(`inv_${'0'.repeat(10)}${'z'.repeat(26)}`);
});

test('chance is as much as was asked for', () => {
  for (const size of [0, 1, 26, 8_192, 10_000]) expect(pooledBytes(size)).toHaveLength(size);
});

test('chance from the pool is never the same twice, nor changes afterwards', () => {
  const given = Array.from({ length: 2_000 }, () => pooledBytes(26));
  const texts = given.map((bytes) => Buffer.from(bytes).toString('hex'));
  expect(new Set(texts).size).toBe(2_000);
  for (let i = 0; i < 2_000; i++) pooledBytes(26);
  expect(given.map((bytes) => Buffer.from(bytes).toString('hex'))).toEqual(texts);
});

test.each([
  ['the least', 0x00, '1'],
  ['the greatest', 0xff, (2 ** 48).toString()],
])('a payout id is a whole number from 1 to 2^48: %s', (_which, byte, id) => {
  expect(newPayoutId((size) => new Uint8Array(size).fill(byte))).toBe(id);
});

test('a payout id uses all its random bytes', () => {
  const ids = Array.from({ length: 6 }, (_, i) =>
    newPayoutId((size) => Uint8Array.from({ length: size }, (_, at) => (at === i ? 1 : 0))),
  );
  expect(ids).toEqual(['1099511627777', '4294967297', '16777217', '65537', '257', '2']);
});
