import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { bitcoinRules } from './bitcoin/agreement.ts';
import { evmRules } from './evm/agreement.ts';
import { solanaRules } from './solana/agreement.ts';

const disagree = expect.objectContaining({ name: 'NodesDisagree' });

describe('two EVM nodes', () => {
  test('that ask for different fees are both satisfied', () => {
    const [low, high] = [
      { maxFeePerGas: 10n, maxPriorityFeePerGas: 2n },
      { maxFeePerGas: 12n, maxPriorityFeePerGas: 1n },
    ];
    expect(evmRules.fees([low, high], [])).toEqual({ maxFeePerGas: 12n, maxPriorityFeePerGas: 2n });
  });

  test('decide together what a transfer needs, and whether it reverts', () => {
    const asked = ['ETH', '0x', units(1n)] as ['ETH', string, ReturnType<typeof units>];
    expect(evmRules.estimateTransfer([21_000n, 30_000n], asked)).toBe(30_000n);
    expect(evmRules.estimateTransfer(['reverts', 'reverts'], asked)).toBe('reverts');
    expect(() => evmRules.estimateTransfer([21_000n, 'reverts'], asked)).toThrow(disagree);
  });

  test('have one nonce now, and of what is final the lower', () => {
    expect(evmRules.nonce([3, 3], ['0x', 'latest'])).toBe(3);
    expect(() => evmRules.nonce([3, 4], ['0x', 'latest'])).toThrow(disagree);
    expect(evmRules.nonce([3, 4], ['0x', 'finalized'])).toBe(3);
  });

  test('have to name the same user of a nonce, and the same bytes', () => {
    const found = { txHash: 'a', height: 1, blockHash: 'b' };
    expect(evmRules.findByNonce([found, { ...found }], ['0x', 1, 1, 2])).toEqual(found);
    expect(() => evmRules.findByNonce([found, undefined], ['0x', 1, 1, 2])).toThrow(disagree);
    expect(() =>
      evmRules.signNativeSweep(
        ['not_worth_it', { raw: '0x', txHash: 'a', maxCost: units(1n) }],
        [{ index: 0, balance: units(1n), nonce: 0, fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n } }],
      ),
    ).toThrow(disagree);
  });
});

describe('two Bitcoin nodes', () => {
  test('ask for the higher fee of a replacement, where any has what it replaces', () => {
    expect(bitcoinRules.feeRate([3n, 5n], [])).toBe(5n);
    expect(bitcoinRules.replacementFee([units(300n), undefined, units(400n)], ['a', 1])).toBe(400n);
    expect(bitcoinRules.replacementFee([undefined, undefined], ['a', 1])).toBeUndefined();
  });

  test('call an output unspent when both do, as deep as the one that is behind knows', () => {
    const found = (confirmations: number, amount = 7n) => ({ confirmations, amount: units(amount) });
    const unspent = (...answers: Parameters<typeof bitcoinRules.unspent>[0]) =>
      bitcoinRules.unspent(answers, [['a:0', 'b:0']]);
    expect(unspent([found(3), undefined], [found(2), undefined])).toEqual([found(2), undefined]);
    expect(() => unspent([found(3), undefined], [undefined, undefined])).toThrow(disagree);
    expect(() => unspent([found(3), undefined], [found(3, 8n), undefined])).toThrow(disagree);
  });

  test('have to name the same spenders', () => {
    const spender = { outpoint: 'a:0', txHash: 'b', height: 1, blockHash: 'c' };
    expect(bitcoinRules.findSpenders([[spender], [{ ...spender }]], [['a:0'], 1, 2])).toEqual([spender]);
    expect(() => bitcoinRules.findSpenders([[spender], []], [['a:0'], 1, 2])).toThrow(disagree);
  });
});

describe('two Solana nodes', () => {
  test('give the blockhash both know, believed to live as long as any would', () => {
    const [old, young] = [
      { blockhash: 'old', lastValidBlockHeight: 100 },
      { blockhash: 'young', lastValidBlockHeight: 130 },
    ];
    for (const answers of [
      [old, young],
      [young, old],
    ]) {
      expect(solanaRules.lifetime(answers, [])).toEqual({ blockhash: 'old', lastValidBlockHeight: 130 });
    }
  });

  test.each([
    [[true, true], true],
    [[true, false], false],
    [[false, false], false],
  ])('of which %j prove a death: %s', (answers, dead) => {
    expect(solanaRules.isDead(answers, ['a', 1, 1])).toBe(dead);
  });

  test('have to agree on rents, trials and what is held', () => {
    const rents = { wallet: units(1n), tokenAccount: units(2n) };
    expect(solanaRules.rents([rents, { ...rents }], [])).toEqual(rents);
    expect(() => solanaRules.tryTransfer(['works', 'refused'], [{} as never])).toThrow(disagree);
    expect(() =>
      solanaRules.tokenAccounts([[{ address: 'a', amount: units(1n) }], []], ['USDC_SOL', 1]),
    ).toThrow(disagree);
  });
});
