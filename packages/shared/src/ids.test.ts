import { expect, test } from '@jest/globals';
import { newInvoiceId } from './ids.ts';

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
