import { describe, expect, it } from '@jest/globals';
import type { DepositId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import {
  type BlockPayment,
  confirmationsOf,
  type DepositState,
  givenUpAt,
  isFinal,
  matchDeposit,
  onDrop,
  type PaymentReport,
  type Resolution,
  resolveContradiction,
} from './deposit.ts';

const time = (second: number): Date => new Date(Date.UTC(2026, 2, 1, 12, 0, second));

const mined: BlockPayment = {
  outpoint: '0xaa:0',
  asset: 'ETH',
  address: '0xours',
  amount: units(5n),
  blockHeight: 10,
  blockHash: '0xten',
  seenAt: time(30),
};
const known = (state: DepositState, over: object = {}) => ({
  id: 'dep_1' as DepositId,
  outpoint: '0xaa:0',
  asset: 'ETH' as const,
  address: '0xours',
  amount: units(5n),
  state,
  firstSeenAt: time(10),
  blockHash: '0xnine',
  ...over,
});

describe('matchDeposit', () => {
  it('records a payment that was never seen as new', () => {
    expect(matchDeposit(mined, [])).toEqual({ as: 'new', firstSeenAt: time(30) });
  });

  it.each([
    [onDrop.seen, 'seen'],
    [onDrop.settled, 'settled'],
  ] as const)('what was %s is %s again, first seen when it first was', (from, state) => {
    expect(matchDeposit(mined, [known(from)])).toEqual({
      as: 'returned',
      deposit: 'dep_1',
      state,
      firstSeenAt: time(10),
    });
  });

  it('what was reversed is a deposit of its own, and was still seen in time', () => {
    expect(matchDeposit(mined, [known('reversed')])).toEqual({ as: 'new', firstSeenAt: time(10) });
  });

  it('is in time by its own block when the known deposit was seen later', () => {
    const match = matchDeposit(mined, [known('dropped', { firstSeenAt: time(50) })]);
    expect(match).toMatchObject({ as: 'returned', firstSeenAt: time(30) });
  });

  it.each(['seen', 'dropped', 'missing'] as const)(
    'an equal payment of another transaction is new (%s)',
    (state) => {
      const match = matchDeposit(mined, [known(state, { outpoint: '0xbb:0', blockHash: '0xten' })]);
      expect(match).toEqual({ as: 'new', firstSeenAt: time(30) });
    },
  );

  it.each(['seen', 'settled'] as const)('the same block twice is nothing new (%s)', (state) => {
    expect(matchDeposit(mined, [known(state, { blockHash: '0xten' })])).toEqual({ as: 'known' });
  });

  it.each([
    ['in another block', {}],
    ['of another amount', { blockHash: '0xten', amount: units(6n) }],
    ['to another address', { blockHash: '0xten', address: '0xother' }],
    ['of another asset', { blockHash: '0xten', asset: 'USDC_ERC20' }],
  ])('reports a contradiction for a known outpoint %s', (_what, over) => {
    expect(matchDeposit(mined, [known('seen', over)])).toEqual({ as: 'contradicted', deposit: 'dep_1' });
  });

  it.each([{ amount: units(6n) }, { address: '0xother' }, { asset: 'USDC_ERC20' as const }])(
    'records a transaction that does something else when mined again as another deposit: %j',
    (over) => {
      expect(matchDeposit({ ...mined, ...over }, [known('missing')])).toEqual({
        as: 'new',
        firstSeenAt: time(30),
      });
    },
  );
});

it.each([
  ['seen', 10, 10, 1],
  ['seen', 10, 12, 3],
  ['settled', 10, 30, 21],
  ['seen', 10, 9, 0],
  ['seen', 10, 5, 0],
  ['missing', 10, 30, 0],
  ['dropped', 10, 30, 0],
  ['reversed', 10, 30, 0],
] as const)('%s in block %i of %i has %i confirmations', (state, blockHeight, height, confirmations) => {
  expect(confirmationsOf({ state, blockHeight }, height)).toBe(confirmations);
});

it.each([
  ['seen', false, 11, false],
  ['seen', false, 12, true],
  ['seen', true, 12, false],
  ['settled', true, 10, true],
] as const)('%s, held %s, at height %i is final: %s', (state, isHeld, height, expected) => {
  expect(isFinal({ state, isHeld, blockHeight: 10, minConfirmations: 3 }, height)).toBe(expected);
});

it('a dropped deposit is given up after as many blocks as it needed', () => {
  expect(givenUpAt(100, 3)).toBe(103);
});

const contradicted = {
  outpoint: '0xtx:0',
  asset: 'ETH',
  address: '0xours',
  amount: units(5n),
  blockHash: '0xten',
  state: 'seen',
} as const;
const told = (over: Partial<PaymentReport> = {}): PaymentReport => ({ ...contradicted, ...over });
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
    ['two addresses are not decided', 'seen', [told(), told({ address: '0xother' })], 'unresolved'],
    ['two amounts are not decided', 'seen', [told(), told({ amount: units(6n) })], 'unresolved'],
    ['two assets are not decided', 'seen', [told(), told({ asset: 'USDC_ERC20' })], 'unresolved'],
    ['no block is not decided', 'seen', [], 'unresolved'],
    ['other payments say nothing', 'seen', [told({ outpoint: '0xtx:1' })], 'unresolved'],
  ])('%s', (_what, state, given, expected) => {
    expect(resolveContradiction({ ...contradicted, state }, given)).toBe(expected);
  });
});
