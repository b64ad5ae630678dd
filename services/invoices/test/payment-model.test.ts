import { expect, it } from '@jest/globals';
import type { Deposit } from '../src/domain/deposit.ts';
import type { MempoolPayment } from '../src/domain/mempool-payment.ts';
import { currentPayments } from './payment-model.ts';

const deposit = (id: string, outpoint: string, state: Deposit['state']) =>
  ({ id, outpoint, state }) as unknown as Deposit;
const mempoolPayment = (outpoint: string, droppedAt: Date | null = null) =>
  ({ outpoint, droppedAt }) as unknown as MempoolPayment;

const names = (given: Parameters<typeof currentPayments>[0]) => {
  const { deposits, mempoolPayments } = currentPayments(given);
  return [...deposits.map(({ id }) => id), ...mempoolPayments.map(({ outpoint }) => outpoint)];
};

it.each([
  ['what lost its block and waits again waits', 'dropped', null, ['a:0']],
  ['what was reversed and waits again waits', 'reversed', null, ['a:0']],
  ['what lost its block and waits no more has lost its block', 'dropped', new Date(), ['dep']],
  ['what is in a block is there', 'seen', null, ['dep']],
  ['what is credited, and lost its block for a moment, is there', 'missing', null, ['dep']],
] as const)('%s', (_what, state, droppedAt, shown) => {
  const given = {
    deposits: [deposit('dep', 'a:0', state)],
    mempoolPayments: [mempoolPayment('a:0', droppedAt)],
  };
  expect(names(given)).toEqual(shown);
});

it('lists unrelated payments side by side', () => {
  expect(
    names({ deposits: [deposit('dep', 'a:0', 'dropped')], mempoolPayments: [mempoolPayment('b:0')] }),
  ).toEqual(['dep', 'b:0']);
});
