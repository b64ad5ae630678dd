import { expect, test } from '@jest/globals';
import { Secret } from '@quittance/shared/secret';
import { ScriptedEvmNode } from '@quittance/testkit/scripted-evm-node';
import { BalanceSnapshots } from '../src/balance-snapshots.ts';
import { compareWithChain, NodeOutOfSync } from '../src/compare-with-chain.ts';
import {
  aPayout,
  compareEach,
  DEPOSIT,
  type Given,
  HOT,
  hash,
  PAID,
  RECIPIENT,
  records,
  aTransaction as transaction,
} from './comparison-fixture.ts';

/** Compares records with a chain of a scripted node. */

const at = compareEach();
const { discrepanciesOf } = at;

const payout = { ...aPayout, amount: '30', is_held: false } as const;
const mined = {
  payouts: [{ ...payout, status: 'mined' }],
  transactions: [{ ...transaction, state: 'mined' }],
};
/** The payment is in the chain. */
function paid(value = 30n, to = RECIPIENT): void {
  at.node.mined.set(PAID, { to, value, succeeded: true, height: 10 });
}

test('one unit less is named, with its asset', async () => {
  at.node.balances.set(DEPOSIT, 59n);
  expect((await compareWithChain(records(), at.settings)).discrepancies).toEqual([
    {
      invariant: 'I6',
      asset: 'ETH',
      subject: 'ETH is short',
      amount: 1n,
      what: expect.stringMatching(/^ETH is short of 1: 100 is owed, 99 lies on ethereum/),
    },
  ]);
});

test.each<[string, Given]>([
  ['a deposit that the chain dropped may come back', { dropped: [{ asset: 'ETH', amount: '60' }], held: [] }],
  [
    'a payout that is mined and still held in the ledger is leaving',
    {
      ...mined,
      payouts: [{ ...payout, status: 'mined', is_held: true }],
      owed: [{ asset: 'ETH', amount: '130' }],
    },
  ],
])('%s', async (_, given) => {
  paid();
  expect(await discrepanciesOf(given)).toEqual([]);
});

test.each<[string, () => void]>([
  [
    'has not come so far',
    () => {
      at.node.blocks.clear();
      at.node.blocks.set(9, hash('9'));
    },
  ],
  ['stands on another branch', () => at.node.blocks.set(10, hash('b'))],
])('a node that %s is asked nothing more', async (_, change) => {
  change();
  at.node.balances.clear();
  await expect(compareWithChain(records(), at.settings)).rejects.toBeInstanceOf(NodeOutOfSync);
  expect(at.node.asked).toEqual([]);
});

test('a node that has the block of the cursor and not that of a payout has not come so far either', async () => {
  await expect(compareWithChain(records({ height: 11 }), at.settings)).rejects.toBeInstanceOf(NodeOutOfSync);
});

const leaving = {
  ...mined,
  payouts: [{ ...payout, status: 'broadcast', is_held: true }],
  owed: [{ asset: 'ETH' as const, amount: '130' }],
};

test('what lies there is asked before the transactions, however many', async () => {
  const others = ['4', '5', '6'].map((digit) => ({ tx_hash: hash(digit), amount: '20' }));
  for (const { tx_hash } of others)
    at.node.mined.set(tx_hash, { to: HOT, value: 1n, succeeded: true, height: 9 });
  paid();
  expect(await discrepanciesOf({ ...leaving, costs: others })).toEqual([]);
  expect(at.node.asked.slice(0, 3)).toEqual([DEPOSIT, HOT, PAID]);
  expect(at.node.asked).toHaveLength(6);
});

test('what comes after the block that is looked at is not seen', async () => {
  // Stolen, and then the payout that would have explained it.
  at.node.mined.set(PAID, { to: RECIPIENT, value: 30n, succeeded: true, height: 11 });
  expect(await discrepanciesOf(leaving)).toEqual([expect.stringMatching(/^ETH is short of 30/)]);
});

test.each<[string, () => void, RegExp]>([
  [
    'a node that does not know the block it is asked about',
    () => {
      at.node.knowsBlocks = false;
    },
    /header not found/,
  ],
  [
    'a node that drops the block while it is asked',
    () => {
      at.node.before = (method) => method === 'eth_getBalance' && at.node.blocks.set(10, hash('c'));
    },
    /it has dropped block 10 while it was asked/,
  ],
])('%s has shown nothing', async (_, change, said) => {
  change();
  await expect(discrepanciesOf()).rejects.toThrow(said);
});

test('when a node is away, lags, or does not know the block, the next one is asked', async () => {
  const lagging = new ScriptedEvmNode();
  const others = [new Secret('http://127.0.0.1:1'), ...(await lagging.start()).rpcUrls];
  try {
    const chain = { ...at.settings, rpcUrls: [...others, ...at.settings.rpcUrls] };
    expect((await compareWithChain(records(), chain)).discrepancies).toEqual([]);
    at.node.blocks.clear();
    lagging.blocks.set(10, hash('b'));
    await expect(compareWithChain(records(), chain)).rejects.toBeInstanceOf(NodeOutOfSync);
  } finally {
    await lagging.stop();
  }
});

test.each<[string, Given, RegExp, (() => unknown)?]>([
  ['is not there', mined, /payout 7 is mined, and no transaction of it is in the chain/, () => {}],
  ['pays one unit more', mined, /payout 7: 0x9+ pays 31 ETH to 0x3+, not 30/, () => paid(31n)],
  ['pays somebody else', mined, /payout 7: 0x9+ pays 0 ETH to 0x3+, not 30/, () => paid(30n, HOT)],
  [
    'failed and is there',
    { payouts: [{ ...payout, status: 'failed' }], transactions: [{ ...transaction, state: 'invalidated' }] },
    /payout 7 failed, and 0x9+ of it is in the chain/,
  ],
  [
    'is there twice',
    {
      ...mined,
      transactions: [...mined.transactions, { ...transaction, tx_hash: hash('8'), state: 'invalidated' }],
    },
    /payout 7 has 2 transactions in the chain: 0x9+, 0x8+/,
    () => {
      paid();
      at.node.mined.set(hash('8'), { to: RECIPIENT, value: 30n, succeeded: true, height: 10 });
    },
  ],
  [
    'cost another amount than is booked',
    { ...mined, costs: [{ tx_hash: PAID, amount: '21' }] },
    /0x9+ cost 20 in the chain, 21 is booked/,
  ],
  [
    'cost what is not booked',
    { ...mined, transactions: [{ ...transaction, state: 'mined', cost_due: true }] },
    /what 0x9+ cost in the chain is not booked/,
  ],
  [
    'cost what the chain never took',
    { costs: [{ tx_hash: PAID, amount: '20' }] },
    /a cost of 20 is booked for 0x9+, which is not in the chain/,
    () => {},
  ],
])('a payout that %s is named', async (_, given, named, inChain = paid) => {
  inChain();
  expect(await discrepanciesOf(given)).toEqual([expect.stringMatching(named)]);
});

test('a payment that is not final may leave the chain until another transaction has used its nonce: it is named then, with its cost', async () => {
  const transactions = [{ ...transaction, state: 'mined', may_leave: true }];
  const inputs = [{ group_id: '1', input: { wallet: HOT, nonce: 4 } }];
  const away = { ...mined, transactions, inputs, costs: [{ tx_hash: PAID, amount: '20' }] };
  at.node.nonces.set(HOT, 4);
  expect(await discrepanciesOf(away)).toEqual([]);
  at.node.nonces.set(HOT, 5);
  expect(await discrepanciesOf(away)).toEqual([
    expect.stringMatching(/payout 7 is mined, and no transaction of it is in the chain/),
    expect.stringMatching(/a cost of 20 is booked for 0x9+, which is not in the chain/),
  ]);
  paid();
  expect(await discrepanciesOf(away)).toEqual([]);
});

test('what lies still is not asked about each time, and all is before anything is missing', async () => {
  const balances = new BalanceSnapshots();
  const many = Array.from({ length: 500 }, (_, i) => ({
    asset: 'ETH' as const,
    address: `0x${(i + 16).toString(16).padStart(40, '0')}`,
    amount: '1',
    moving: false,
  }));
  for (const one of many) at.node.balances.set(one.address, 1n);
  const given = { held: many, owed: [{ asset: 'ETH' as const, amount: '540' }] };
  expect(await discrepanciesOf(given, { balances })).toEqual([]);
  expect(at.node.asked).toHaveLength(501);
  at.node.asked = [];
  expect(await discrepanciesOf(given, { balances })).toEqual([]);
  // The hot wallet, and those whose turn it is.
  expect(at.node.asked).toHaveLength(201);
  at.node.asked = [];
  // One was swept, and its money is in the hot wallet.
  at.node.balances.set(many[0]?.address ?? '', 0n).set(HOT, 41n);
  expect(await discrepanciesOf({ ...given, held: many.slice(1) }, { balances })).toEqual([]);
  // Half of one is stolen: found at once where it is asked, and then with all the others asked.
  at.node.balances.set(many[499]?.address ?? '', 0n).set(HOT, 40n);
  at.node.asked = [];
  expect(await discrepanciesOf({ ...given, held: many.slice(1) }, { balances })).toEqual([
    expect.stringMatching(/^ETH is short of 2/),
  ]);
  expect(at.node.asked.length).toBeGreaterThan(500);
});
