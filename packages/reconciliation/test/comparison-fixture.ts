import { afterEach, beforeEach } from '@jest/globals';
import { ScriptedEvmNode } from '@quittance/testkit/scripted-evm-node';
import type { ChainRecords } from '../src/chain-records.ts';
import { type Comparing, compareWithChain } from '../src/compare-with-chain.ts';
import type { ReserveRecords } from '../src/reserve-records.ts';

export const hash = (digit: string) => `0x${digit.repeat(64)}`;
const address = (digit: string) => `0x${digit.repeat(40)}`;
export const HOT = address('1');
export const DEPOSIT = address('2');
export const USDC = address('c');
export const RECIPIENT = address('3');
/** The transaction that pays the recipient. */
export const PAID = hash('9');
export const aTransaction = {
  group_id: '1',
  tx_hash: PAID,
  purpose: 'payout',
  asset: 'ETH',
  cost_due: false,
  may_leave: false,
} as const;
/** What it pays, without the amount and what became of it. */
export const aPayout = { id: '7', asset: 'ETH', address: RECIPIENT, group_id: '1' } as const;

export type Given = Partial<ChainRecords> & Partial<ReserveRecords>;

/** 100 units are owed, of which 40 are in the hot wallet and 60 at a deposit address. */
const owing: ReserveRecords = {
  owed: [{ asset: 'ETH', amount: '100' }],
  held: [{ asset: 'ETH', address: DEPOSIT, amount: '60', moving: false }],
  booked: [],
  funds: [],
  unbooked: [],
  spent: [],
  leftBehind: [],
  leftLately: [],
  dropped: [],
  hot: [HOT],
  utxos: [],
};
export const records = (given: Given = {}): ChainRecords => ({
  payouts: [],
  deposits: [],
  transactions: [],
  inputs: [],
  costs: [],
  newestTransaction: '0',
  cursor: { height: 10, hash: hash('a') },
  height: 10,
  ...given,
  reserves: { ...owing, ...given },
});

type Comparison = {
  node: ScriptedEvmNode;
  settings: Parameters<typeof compareWithChain>[1];
  /** What a comparison of these records with the chain of the node names. */
  discrepanciesOf(given?: Given, comparing?: Comparing): Promise<string[]>;
};

/** The comparison of a suite. In every test its node is a new one that has what the records say. */
export function compareEach(): Comparison {
  const comparison = {
    discrepanciesOf: async (given, comparing) => {
      const { discrepancies } = await compareWithChain(records(given), comparison.settings, comparing);
      return discrepancies.map(({ what }) => what);
    },
  } as Comparison;
  beforeEach(async () => {
    const node = new ScriptedEvmNode();
    node.blocks.set(10, hash('a'));
    node.balances.set(HOT, 40n).set(DEPOSIT, 60n);
    Object.assign(comparison, { node, settings: { ...(await node.start()), usdcAddress: USDC } });
  });
  afterEach(() => comparison.node.stop());
  return comparison;
}
