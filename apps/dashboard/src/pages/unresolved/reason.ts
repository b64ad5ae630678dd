import type { UnresolvedFunds } from '@quittance/client';

const texts = {
  late: 'It came after the end of the invoice.',
  underpaid: 'It is less than was due.',
  wrong_asset: 'It is in another asset than the invoice.',
  too_small: 'It is below the smallest amount of its asset.',
} as const satisfies Record<NonNullable<UnresolvedFunds['reason']>, string>;

const words = {
  late: 'too late',
  underpaid: 'too little',
  wrong_asset: 'another asset',
  too_small: 'too small',
} as const satisfies Record<NonNullable<UnresolvedFunds['reason']>, string>;

/** The same in a table. */
export const reasonWords = (reason: UnresolvedFunds['reason']): string =>
  reason === null ? '—' : words[reason];

/** Why funds are in no balance. */
export const reasonText = (reason: UnresolvedFunds['reason']): string =>
  reason === null ? 'Its reason was not stored.' : texts[reason];
