import { expect, test } from '@jest/globals';
import { type MailStatus, mailStatusOf } from './mail-status.ts';

const then = new Date(0);

test.each<[MailStatus, Date | null, Date | null, Date | null]>([
  ['unconfirmed', null, null, null],
  ['active', then, null, null],
  ['paused', then, null, then],
  ['unconfirmed', null, null, then],
  ['unsubscribed', then, then, null],
  ['unsubscribed', then, then, then],
  ['unsubscribed', null, then, null],
])(
  'an address is %s when it was confirmed at %p, unsubscribed at %p and paused at %p',
  (status, ...times) => {
    const [confirmedAt, unsubscribedAt, pausedAt] = times;
    expect(mailStatusOf({ confirmedAt, unsubscribedAt, pausedAt })).toBe(status);
  },
);
