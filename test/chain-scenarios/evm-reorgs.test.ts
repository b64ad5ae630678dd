import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { patient } from '@quittance/testkit/patience';
import type { Hex } from 'viem';
import { type Asset, type EvmChain, startEvmChain } from './evm-chain.ts';
import { type MoneyIn, startEvmMoneyIn } from './money-in.ts';
import {
  depositEnds,
  expectCreditsOfChain,
  type ReorgChain,
  type ScriptInvoice,
  type Wanted,
} from './play-reorgs.ts';
import { batches } from './size.ts';

/**
 * Generated reorganisations of a real Ethereum node, one to six blocks deep and mostly deeper than what counts as
 * final, under a real invoices service and a real ledger. The whole of the oracle is what the final chain says of the
 * balances of the addresses.
 */
const CONFIRMATIONS = 3;
/** Each batch ends with minutes of blocks, in which all is settled. */
const BATCHES = batches({ small: 30, full: 200, atOnce: 30 });
const SCRIPTS = BATCHES.reduce((sum, { seeds }) => sum + seeds.length, 0);
const STRANGER = '0x00000000000000000000000000000000005742a6';
/** Of what was not asked for, little: as tokens it would be more than anybody has. */
const STRAY_MAX = 10n ** 9n;
const both = ['ETH', 'USDC_ERC20'] as const;

let node: EvmChain;
let shop: MoneyIn;

beforeAll(async () => {
  node = await startEvmChain();
  shop = await startEvmMoneyIn(node, CONFIRMATIONS);
});
afterAll(async () => {
  await shop?.stop();
  await node?.stop();
});

function evm(): ReorgChain {
  let nonces: number[] = [];
  return {
    chain: 'ethereum',
    assets: both,
    assetOfInvoice: (seed, index) => both[(seed + index) % 3 === 0 ? 1 : 0],
    async begin(payments) {
      // Payer 0 is the node's own.
      nonces = await Promise.all(Array.from({ length: payments }, (_, i) => node.nonce(i + 1)));
    },
    raw: (wanted) => node.sign(wanted.payment + 1, nonces[wanted.payment] as number, callOf(wanted)),
    mine: (raws) => node.mine(raws as Hex[]),
    reorg: (depth, blocks) => node.reorg(depth, blocks as Hex[][]),
    mineEmpty: node.mineEmpty,
    balances: async (addresses) =>
      new Map(
        await Promise.all(
          both.map(async (asset) => {
            const of = addresses.map(
              async (address) => [address, await node.balance(asset, address as Hex)] as const,
            );
            return [asset, new Map(await Promise.all(of))] as const;
          }),
        ),
      ),
  };
}

function callOf({ way, meant: { pays, otherwise, form }, invoices }: Wanted) {
  const target = (index: number) => invoices[index] as ScriptInvoice;
  const [{ invoice, percent }] = pays as [{ invoice: number; percent: number }];
  const { asset, address, due } = target(invoice);
  const paid = (due * BigInt(percent)) / 100n;
  const other: Asset = asset === 'ETH' ? 'USDC_ERC20' : 'ETH';
  if (way === 'second') {
    const to = otherwise === undefined ? STRANGER : target(otherwise).address;
    return node.transfer(form % 2 === 0 ? 'ETH' : 'USDC_ERC20', to as Hex, paid % STRAY_MAX);
  }
  if (asset === 'ETH' && form % 3 === 0) {
    // Balances are watched where Ether is asked for.
    const those = pays.map((one) => target(one.invoice)).filter((one) => one.asset === 'ETH');
    return node.inside(
      those.map((one) => one.address as Hex),
      paid,
    );
  }
  if (form % 10 === 1) return node.transfer(other, address as Hex, paid % STRAY_MAX);
  return node.transfer(asset as Asset, address as Hex, paid);
}

/** A batch plays its scripts side by side on one node. */
const BATCH_LIMIT_MS = patient(120_000);

it.each(BATCHES)(
  'reorganisations of Ethereum, scripts from seed $from on: what the chain says is credited, once',
  ({ seeds }) => expectCreditsOfChain(shop, evm(), seeds, CONFIRMATIONS),
  BATCH_LIMIT_MS,
);

it('the scripts did what they are for', async () => {
  const { settled = 0, dropped = 0, reversed = 0 } = await depositEnds(shop);
  expect(Math.min(settled, dropped, reversed)).toBeGreaterThanOrEqual(SCRIPTS / 10);
  const { inside } = await shop.db.one<{ inside: number }>(
    `select count(*)::int as inside from deposits where tx_hash is null or outpoint not like tx_hash || ':%'`,
  );
  expect(inside).toBeGreaterThanOrEqual(SCRIPTS / 10);
});
