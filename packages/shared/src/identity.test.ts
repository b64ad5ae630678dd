import { expect, test } from '@jest/globals';
import { openIdentity, sealIdentity } from './identity.ts';
import type { AccountId } from './ids.ts';

const secret = 'a secret of more than thirty-two characters';
const now = new Date('2026-01-02T03:04:05.000Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const account = 'acc_1' as AccountId;

test('what the gateway sealed is opened for twelve seconds, whichever clock is ahead', () => {
  const sealed = sealIdentity(secret, { account }, now);
  for (const ms of [-12_000, 0, 12_000]) expect(openIdentity(secret, sealed, later(ms))).toEqual({ account });
  for (const ms of [-12_001, 12_001]) expect(openIdentity(secret, sealed, later(ms))).toBe('stale');
});

test('what is both forged and old is nobody', () => {
  const sealed = sealIdentity(`${secret}!`, { account }, now);
  expect(openIdentity(secret, sealed, later(60_000))).toBeUndefined();
});

test('a changed, unsigned or foreign identity is nobody', () => {
  const sealed = sealIdentity(secret, { account }, now);
  const [body = '', signature = ''] = sealed.split('.');
  const forged = Buffer.from(JSON.stringify({ account: 'acc_2', at: now.getTime() })).toString('base64url');
  for (const header of [
    `${forged}.${signature}`,
    body,
    `${body}.`,
    '',
    '.',
    undefined,
    ['x'],
    sealed.slice(0, -2),
  ]) {
    expect(openIdentity(secret, header, now)).toBeUndefined();
  }
  expect(openIdentity(`${secret}!`, sealed, now)).toBeUndefined();
});
