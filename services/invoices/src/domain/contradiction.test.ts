import { describe, expect, it } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { type PaymentReport, type Resolution, resolveContradiction } from './contradiction.ts';

const known = {
  outpoint: '0xtx:0',
  asset: 'ETH',
  address: '0xours',
  amount: units(5n),
  blockHash: '0xten',
  state: 'seen',
} as const;
const told = (over: Partial<PaymentReport> = {}): PaymentReport => ({ ...known, ...over });
const later = { blockHash: '0xeleven' };

describe('a contradicted payment whose blocks are read again', () => {
  it.each<[string, 'seen' | 'settled', PaymentReport[], Resolution]>([
    ['the first answer stands when the block is told without it', 'seen', [told()], 'earlier'],
    ['the first answer stands for what is settled, too', 'settled', [told()], 'earlier'],
    ['the first answer stands when both are one block, told once', 'seen', [told(), told()], 'earlier'],
    ['the later answer stands when only that block holds it', 'seen', [told(later)], 'later'],
    ['the later answer stands with other contents', 'seen', [told({ ...later, amount: units(6n) })], 'later'],
    ['the later answer stands in the same block', 'seen', [told({ amount: units(6n) })], 'later'],
    ['what is settled moves with its contents', 'settled', [told(later)], 'later'],
    [
      'other contents than what is settled are not decided',
      'settled',
      [told({ ...later, amount: units(6n) })],
      'unresolved',
    ],
    ['two blocks are not decided', 'seen', [told(), told(later)], 'unresolved'],
    ['two contents are not decided', 'seen', [told(), told({ address: '0xother' })], 'unresolved'],
    ['no block is not decided', 'seen', [], 'unresolved'],
    ['other payments say nothing', 'seen', [told({ outpoint: '0xtx:1' })], 'unresolved'],
  ])('%s', (_what, state, given, expected) => {
    expect(resolveContradiction({ ...known, state }, given)).toBe(expected);
  });
});
