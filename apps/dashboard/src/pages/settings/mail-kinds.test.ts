import { expect, test } from '@jest/globals';
import { kindsText, mailKinds, usualKinds } from './mail-kinds.ts';

test('kinds are named in one order, and all of them together', () => {
  expect(kindsText(['paid', 'payout_failed'])).toBe('Payout failed, Paid');
  expect(kindsText(mailKinds.map(({ value }) => value).toReversed())).toBe('Everything');
  expect(kindsText(usualKinds)).not.toMatch(/, Paid$/);
});
