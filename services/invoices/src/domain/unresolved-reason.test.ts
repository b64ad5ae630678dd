import { describe, expect, it } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { unpaid } from './invoice.ts';
import { isToldWhenSettled, unresolvedReason } from './invoice-state.ts';

const EXPIRES = new Date('2026-03-01T13:00:00.000Z');
const invoice = { ...unpaid, asset: 'ETH', dust: units(10n), expiresAt: EXPIRES } as const;
const expired = { status: 'expired', closedAt: EXPIRES } as const;

describe('an unresolved payment', () => {
  const [before, after] = [new Date(EXPIRES.getTime() - 1), new Date(EXPIRES.getTime() + 1)];
  const open = { ...invoice, status: 'partially_paid' } as const;
  const payment = { asset: 'ETH', amount: units(50n), firstSeenAt: before } as const;
  it.each([
    ['in time of an invoice that ended without enough', open, payment, 'underpaid'],
    ['at the last moment', open, { ...payment, firstSeenAt: EXPIRES }, 'underpaid'],
    ['after the end', open, { ...payment, firstSeenAt: after }, 'late'],
    ['of an invoice that expired before it was found', { ...invoice, ...expired }, payment, 'late'],
    [
      'of an invoice without an end',
      { ...open, expiresAt: null },
      { ...payment, firstSeenAt: after },
      'underpaid',
    ],
    ['in another asset', open, { ...payment, asset: 'USDC_ERC20', firstSeenAt: after }, 'wrong_asset'],
    ['below the smallest amount', open, { ...payment, amount: units(9n) }, 'too_small'],
    ['of the smallest amount', open, { ...payment, amount: units(10n) }, 'underpaid'],
  ] as const)('%s has a reason', (_, of, one, reason) => {
    expect(unresolvedReason(of, one)).toBe(reason);
  });
});

it.each([
  ['in another asset', 'wrong_asset', 10n, 10n, true],
  ['in another asset, below its smallest amount', 'wrong_asset', 9n, 10n, false],
  ['in another asset without a known smallest amount', 'wrong_asset', 1n, undefined, true],
  ['below the smallest amount', 'too_small', 9n, 10n, false],
  ['late', 'late', 50n, 10n, false],
  ['underpaid', 'underpaid', 50n, 10n, false],
] as const)(
  'an unresolved payment that is %s is told when it is settled, or not',
  (_, reason, amount, dust, told) => {
    expect(isToldWhenSettled(reason, units(amount), dust === undefined ? undefined : units(dust))).toBe(told);
  },
);
