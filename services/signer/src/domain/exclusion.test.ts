import { describe, expect, it } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { contradictedInputs, type Exclusive, excludes, type Input, validUntil } from './exclusion.ts';

const evm = (nonce: number, wallet = '0xhot', chain: 'ethereum' | 'base' = 'ethereum'): Exclusive => ({
  ...{ kind: 'evm', chain, wallet, nonce },
});
const input = (outpoint: string, amount = 1n): Input => ({ outpoint, amount: units(amount) });
const bitcoin = (...outpoints: string[]): Exclusive => ({
  kind: 'bitcoin',
  inputs: outpoints.map((one) => input(one)),
});
const solana = (isOver: boolean): Exclusive => ({ kind: 'solana', isOver });

describe('two transactions can never both be mined', () => {
  it.each<[string, Exclusive, Exclusive, boolean]>([
    ['of a wallet with the same nonce', evm(5), evm(5), true],
    ['of a wallet with other nonces', evm(5), evm(6), false],
    ['of two wallets with the same nonce', evm(5), evm(5, '0xdeposit'), false],
    ['of a wallet on two chains with the same nonce', evm(5), evm(5, '0xhot', 'base'), false],
    ['that share an input', bitcoin('a', 'b'), bitcoin('b', 'c'), true],
    ['that share no input', bitcoin('a', 'b'), bitcoin('c'), false],
    ['of which the earlier is over', solana(true), solana(false), true],
    ['of which the earlier may still be mined', solana(false), solana(false), false],
    ['of two kinds of chains', evm(5), bitcoin('a'), false],
    ['of two kinds of chains, the earlier being over', solana(true), evm(5), false],
  ])('%s: %#', (_what, earlier, next, expected) => {
    expect(excludes(earlier, next)).toBe(expected);
  });

  const one = fc.oneof(
    fc
      .record({ nonce: fc.nat(2), chain: fc.constantFrom('ethereum' as const, 'base' as const) })
      .map(({ nonce, chain }) => evm(nonce, '0xhot', chain)),
    fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 }).map((all) => bitcoin(...all)),
  );
  it('whichever of them was signed first, where their contents alone decide', () =>
    assertProperty(
      fc.property(one, one, (a, b) => {
        expect(excludes(a, b)).toBe(excludes(b, a));
        expect(excludes(a, a)).toBe(true);
      }),
    ));
});

describe('inputs that contradict', () => {
  it.each<[string, Input[], Input[], string[]]>([
    ['none, when they are new', [input('a'), input('b')], [], []],
    ['none, when they are told as before', [input('a', 7n)], [input('a', 7n)], []],
    ['one that is told with less than before', [input('a', 6n), input('b')], [input('a', 7n)], ['a']],
    ['one that is told twice', [input('a'), input('a')], [], ['a']],
  ])('%s', (_what, inputs, earlier, expected) => {
    expect(contradictedInputs(inputs, earlier)).toEqual(expected);
  });
});

it('a transaction of Solana does not expire before one of now could', () => {
  expect(validUntil(700, 1_150)).toBe(1_182);
  expect(validUntil(1_200, 1_150)).toBe(1_200);
});
