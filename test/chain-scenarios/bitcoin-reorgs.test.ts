import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { patient } from '@quittance/testkit/patience';
import { type BitcoinChain, startBitcoinChain, type Utxo } from './bitcoin-chain.ts';
import { type MoneyIn, startBitcoinMoneyIn } from './money-in.ts';
import {
  depositEnds,
  expectCreditsOfChain,
  type ReorgChain,
  type ScriptInvoice,
  type Wanted,
} from './play-reorgs.ts';
import { batches } from './size.ts';

/**
 * Generated reorganisations of a real Bitcoin Core, one to six blocks deep and mostly deeper than what counts as
 * final. Payments that lose their block wait in the node's pool again, and may be replaced there. The whole of the
 * oracle is the node's set of unspent outputs in the end.
 */
const CONFIRMATIONS = 2;
/** Each batch ends with an hour of blocks, in which all is settled. Few in each, because its time is limited. */
const BATCHES = batches({ small: 40, full: 200, atOnce: 10 });
const SCRIPTS = BATCHES.reduce((sum, { seeds }) => sum + seeds.length, 0);

let node: BitcoinChain;
let shop: MoneyIn;

beforeAll(async () => {
  node = await startBitcoinChain();
  shop = await startBitcoinMoneyIn(node, CONFIRMATIONS);
});
afterAll(async () => {
  await shop?.stop();
  await node?.stop();
});

function bitcoin(): ReorgChain {
  let utxos: Utxo[] = [];
  return {
    chain: 'bitcoin',
    assets: ['BTC'],
    assetOfInvoice: () => 'BTC',
    async begin(payments) {
      utxos = await node.take(payments);
    },
    raw: async (wanted) => node.sign([utxos[wanted.payment] as Utxo], outputsOf(wanted)),
    async send(raws) {
      for (const raw of raws) await node.node.rpc('sendrawtransaction', raw);
    },
    mine: node.mine,
    reorg: node.reorg,
    mineEmpty: node.mineEmpty,
    async clear(waiting) {
      await node.mine(waiting.filter((_, i) => i % 2 === 0).map(({ second }) => second));
      // And what still waits is mined after all.
      await node.node.mine(1);
      const left = await node.node.rpc<string[]>('getrawmempool');
      if (left.length > 0) throw new Error(`${left.join(', ')} still wait`);
    },
    balances: async (addresses) => new Map([['BTC', await node.balances(addresses)]]),
  };
}

function outputsOf({ way, meant: { pays, otherwise }, invoices }: Wanted) {
  const target = (index: number) => invoices[index] as ScriptInvoice;
  const share = ({ invoice, percent }: { invoice: number; percent: number }) => ({
    address: target(invoice).address,
    amount: (target(invoice).due * BigInt(percent)) / 100n,
  });
  if (way === 'first') return pays.map(share);
  if (otherwise === undefined) return [{ script: node.payer.script, amount: 12_345n }];
  return [share({ invoice: otherwise, percent: 90 })];
}

/** A batch plays its scripts side by side on one node. */
const BATCH_LIMIT_MS = patient(120_000);

it.each(BATCHES)(
  'reorganisations of Bitcoin, scripts from seed $from on: what the chain says is credited, once',
  ({ seeds }) => expectCreditsOfChain(shop, bitcoin(), seeds, CONFIRMATIONS),
  BATCH_LIMIT_MS,
);

it('the scripts did what they are for', async () => {
  const { settled = 0, dropped = 0, reversed = 0 } = await depositEnds(shop);
  expect(Math.min(settled, dropped, reversed)).toBeGreaterThanOrEqual(SCRIPTS / 10);
});
