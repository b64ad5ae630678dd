import { expect, test } from '@jest/globals';
import { signIdentity, verifyIdentity } from './identity.ts';
import type { AccountId } from './ids.ts';

const secret = 'a secret of more than thirty-two characters';
const now = new Date('2026-01-02T03:04:05.000Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const account = 'acc_1' as AccountId;

test('an identity header is valid for twelve seconds, whichever clock is ahead', () => {
  const signed = signIdentity(secret, { account }, now);
  for (const ms of [-12_000, 0, 12_000])
    expect(verifyIdentity(secret, signed, later(ms))).toEqual({ account });
  for (const ms of [-12_001, 12_001]) expect(verifyIdentity(secret, signed, later(ms))).toBe('stale');
});

test('a changed, unsigned or foreign identity is nobody, also when it is old', () => {
  const signed = signIdentity(secret, { account }, now);
  const [body = '', signature = ''] = signed.split('.');
  const forged = Buffer.from(JSON.stringify({ account: 'acc_2', at: now.getTime() })).toString('base64url');
  for (const header of [
    `${forged}.${signature}`,
    body,
    `${body}.`,
    '',
    '.',
    undefined,
    ['x'],
    signed.slice(0, -2),
  ]) {
    expect(verifyIdentity(secret, header, now)).toBeUndefined();
  }
  for (const at of [now, later(60_000)]) expect(verifyIdentity(`${secret}!`, signed, at)).toBeUndefined();
});
