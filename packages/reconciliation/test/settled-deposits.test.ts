import { describe, expect, test } from '@jest/globals';
import type { ChainRecords } from '../src/chain-records.ts';
import { compareWithChain } from '../src/compare-with-chain.ts';
import { compareEach, DEPOSIT, HOT, hash, records, USDC } from './comparison-fixture.ts';

/** Compares settled deposits with the transactions of a scripted node. */

const at = compareEach();
const { discrepanciesOf } = at;

describe('a deposit that is settled', () => {
  const BY = hash('7');
  const deposit = {
    id: 'dep_1',
    is_settled: true,
    asset: 'ETH',
    address: DEPOSIT,
    amount: '60',
    tx_hash: BY,
    block_height: 10,
    block_hash: hash('a'),
    by_balance: false,
  } as const;
  const token = { ...deposit, asset: 'USDC_ERC20' } as const;
  const logOf = (amount: bigint, to = DEPOSIT) => ({ contract: USDC, to, amount });
  const mined = (given: object = {}) =>
    at.node.mined.set(BY, { to: DEPOSIT, value: 60n, succeeded: true, height: 10, ...given });
  const found = (deposits: ChainRecords['deposits']) => discrepanciesOf({ deposits });

  test.each<[string, ChainRecords['deposits'], (() => unknown)?]>([
    ['as the value of a transaction', [deposit]],
    [
      'as a transfer of tokens, among others',
      [token],
      () =>
        mined({ to: USDC, value: 0n, logs: [logOf(5n, HOT), logOf(60n), { ...logOf(9n), contract: HOT }] }),
    ],
    [
      'as one of several transfers, of which not all are settled',
      [
        { ...token, amount: '20' },
        { ...token, id: 'dep_2', amount: '40', is_settled: false },
      ],
      () => mined({ to: USDC, value: 0n, logs: [logOf(20n), logOf(40n)] }),
    ],
    [
      'with another asset beside it in the same transaction',
      [deposit, { ...token, id: 'dep_2', amount: '5' }],
      () => mined({ logs: [logOf(5n)] }),
    ],
    [
      'beside a log that is no transfer',
      [token],
      () => mined({ to: USDC, value: 0n, logs: [{ ...logOf(1n), data: '0x' }, logOf(60n)] }),
    ],
    [
      'sent by a contract, which only the balance shows',
      [{ ...deposit, by_balance: true }],
      () => mined({ value: 0n }),
    ],
    [
      'sent by a contract that nobody could name',
      [{ ...deposit, by_balance: true, tx_hash: null }],
      () => {},
    ],
    [
      'of which the node has thrown the receipt away',
      [deposit],
      () => {
        mined();
        at.node.pruned.add(BY);
      },
    ],
    ['of a token that is in the settings no more', [{ ...token, asset: 'USDC_BASE' }]],
  ])('is there %s', async (_, deposits, change = mined) => {
    change();
    expect(await found(deposits)).toEqual([]);
  });

  test('is asked for once for all that its transaction paid', async () => {
    mined({ logs: [logOf(5n), logOf(7n, HOT)] });
    const others = [
      { ...token, id: 'dep_2', amount: '5' },
      { ...token, id: 'dep_3', amount: '7', address: HOT },
    ];
    expect(await found([deposit, ...others])).toEqual([]);
    expect(at.node.asked.filter((one) => one === BY)).toHaveLength(1);
  });

  test.each<[string, ChainRecords['deposits'], RegExp, (() => unknown)?]>([
    ['is not there', [deposit], /its transaction 0x7+ is not in the chain/, () => {}],
    [
      'names no transaction',
      [{ ...deposit, tx_hash: null }],
      /its transaction null is not in the chain/,
      () => {},
    ],
    ['came later than is looked at', [deposit], /0x7+ is not in the chain/, () => mined({ height: 11 })],
    ['was undone', [deposit], /0x7+ pays 0 ETH to 0x2+, not 60/, () => mined({ succeeded: false })],
    ['is one unit less there', [deposit], /0x7+ pays 59 ETH to 0x2+, not 60/, () => mined({ value: 59n })],
    ['is one unit more there', [deposit], /0x7+ pays 61 ETH to 0x2+, not 60/, () => mined({ value: 61n })],
    ['went elsewhere', [deposit], /0x7+ pays 0 ETH to 0x2+, not 60/, () => mined({ to: HOT })],
    ['was of another asset', [token], /0x7+ pays 0 USDC_ERC20 to 0x2+, not 60/],
    [
      'was a token that is not ours',
      [token],
      /0x7+ pays 0 USDC_ERC20 to 0x2+, not 60/,
      () => mined({ value: 0n, logs: [{ ...logOf(60n), contract: HOT }] }),
    ],
    [
      'is there once, and booked twice',
      [deposit, { ...deposit, id: 'dep_2' }],
      /dep_1 is settled: 0x7+ pays 60 ETH to 0x2+, not 120/,
    ],
    [
      'came with a block that is not there',
      [{ ...deposit, by_balance: true, block_hash: hash('b') }],
      /its block 0xb+ is not in the chain/,
      () => {},
    ],
  ])('and %s is named', async (_, deposits, named, change = mined) => {
    change();
    const [first, ...others] = (await compareWithChain(records({ deposits }), at.settings)).discrepancies;
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      invariant: 'I5',
      subject: 'deposit dep_1 chain',
      asset: deposits[0]?.asset,
      what: expect.stringMatching(named),
    });
  });
});
