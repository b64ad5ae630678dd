import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openWallet } from '@quittance/chains/evm/wallet';
import type { AccountId } from '@quittance/shared/ids';
import { formatUnits, units } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import { seeded } from '@quittance/testkit/seeded';
import type { Hex } from 'viem';
import { type Asset, type EvmChain, startEvmChain } from './evm-chain.ts';
import { SEED } from './fixture.ts';
import { type MoneyOut, type Payout, startMoneyOut } from './money-out.ts';
import { DEPTH_MAX } from './reorg-script.ts';
import { seedOr, sized } from './size.ts';

/**
 * Payouts on a real Ethereum node: a quarter of the broadcasts reach it and lose their answer, and blocks are dropped, one
 * to six deep. Nevertheless each payout is exactly one transaction, of exactly its amount.
 */
const PAYOUTS = sized(100, 500);
const MERCHANTS = 5;
const LOST = 0.25;
const ROUNDS = sized(4, 20);
const PAYOUTS_A_ROUND = 5;
/** Fewer than the deepest reorganisation, so that some are called mined before they are dropped. */
const CONFIRMATIONS = 4;
/** Blocks are final two epochs later: beyond the deepest reorganisation, because what is final is not reorganised. */
const SLOTS_IN_AN_EPOCH = 32;
const LIMIT_MS = 240_000;
const BLOCK_EVERY_MS = 100;
const decimals = { ETH: 18, USDC_ERC20: 6 } as const;
const random = seeded(seedOr(25));
const upTo = (n: number) => Math.floor(random() * n);

let chain: EvmChain;
let proxy: FaultProxy;
let treasury: MoneyOut;
let accounts: AccountId[];

beforeAll(async () => {
  chain = await startEvmChain({ payers: 2, slotsInAnEpoch: SLOTS_IN_AN_EPOCH });
  proxy = await startFaultProxy(chain.node.rpcUrl, seedOr(25));
  treasury = await startMoneyOut(
    {
      ETH: { rate: '2500', confirmations: CONFIRMATIONS },
      USDC_ERC20: { rate: '1', confirmations: CONFIRMATIONS },
    },
    { ETHEREUM_RPC_URL: proxy.url, ETHEREUM_CHAIN_ID: '31337', ETHEREUM_USDC_ADDRESS: chain.usdc },
  );
  accounts = await merchants();
  await chain.mineEmpty(DEPTH_MAX + 1);
});
afterAll(async () => {
  await treasury?.stop();
  await proxy?.close();
  await chain?.stop();
});

const DEPOSITS = [
  ['ETH', 100n * 10n ** 18n],
  ['USDC_ERC20', 1_000_000_000n],
] as const;

/** Merchants whose customers paid: what they have lies on deposit addresses. The hot wallet has one Ether for fees. */
async function merchants(): Promise<AccountId[]> {
  const wallet = openWallet(SEED);
  let nonce = await chain.nonce(1);
  const send = async (asset: Asset, to: string, amount: bigint) => {
    await chain.mine([await chain.sign(1, nonce++, chain.transfer(asset, to as Hex, amount))]);
    return await chain.client.getBlock();
  };
  await send('ETH', wallet.hotAddress, 10n ** 18n);
  const made = Array.from({ length: MERCHANTS }, () => treasury.newAccount());
  for (const [index, account] of made.entries()) {
    const address = wallet.depositAddress(index);
    for (const [asset, amount] of DEPOSITS) {
      const { number, hash, transactions } = await send(asset, address, amount);
      // eslint-disable-next-line no-restricted-syntax -- a height
      const place = { index, address, height: Number(number), blockHash: hash };
      await treasury.credit(account, { asset, amount, outpoint: `${transactions[0]}:0`, ...place });
    }
  }
  return made;
}

const payouts: Payout[] = [];

/** No two amounts are alike, so that a payment can be told by its amount as well. */
async function pay(asset: Asset): Promise<Payout> {
  const n = payouts.length;
  const amount = BigInt(1 + upTo(1_000)) * 10_000n + BigInt(n);
  const to = `0x${(0xfeed_0000 + n).toString(16).padStart(40, 'b')}`;
  const text = formatUnits(units(amount), decimals[asset]);
  const made = await treasury.payout(accounts[n % MERCHANTS] as AccountId, { asset, amount, to, text });
  payouts.push(made);
  return made;
}

const paymentsOf = (made: readonly Payout[]) => chain.paymentsTo(made.map(({ to }) => to));

/** Of what was signed, that which is in a block now, and in which. */
async function inBlocks(): Promise<Map<Hex, Hex>> {
  const found = new Map<Hex, Hex>();
  for (const hash of (await treasury.signed()).keys()) {
    // The client throws where there is none: it is in no block.
    const receipt = await chain.client.getTransactionReceipt({ hash: hash as Hex }).catch(() => undefined);
    if (receipt !== undefined) found.set(receipt.transactionHash, receipt.blockHash);
  }
  return found;
}

/** Of what was called mined the chain is asked once a minute: the minute is over. */
const askAgain = () =>
  treasury.db.rows('update payouts.transactions set looked_at = null where final_at is null');

it('payouts whose blocks are dropped come again by the same bytes, once', async () => {
  const dropped = new Set<Hex>();
  const bytes = new Map<string, string>();
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < PAYOUTS_A_ROUND; i++) await pay('ETH');
    await treasury.handedOut();
    await chain.mineEmpty(1 + upTo(DEPTH_MAX));
    if (upTo(3) === 0) {
      // Long enough for some to be called mined.
      await treasury.untilEnded(() => chain.mineEmpty(1), LIMIT_MS, BLOCK_EVERY_MS);
    }
    for (const [hash, raw] of await treasury.signed()) bytes.set(hash, raw);

    const before = await inBlocks();
    const newest = await chain.client.getBlock({ blockHash: [...before.values()].at(-1) as Hex });
    // At least as deep as the last payout's block, however many blocks came while the machine was busy.
    const reach = Number((await chain.client.getBlockNumber()) - (newest.number as bigint) + 1n); // eslint-disable-line no-restricted-syntax -- a count of blocks
    const depth = Math.max(reach, 1 + upTo(DEPTH_MAX));
    await chain.reorg(
      depth,
      Array.from({ length: depth + 1 }, () => []),
    );
    // Those that were sent again at once are in another block by now.
    const after = await inBlocks();
    for (const [txHash, block] of before) if (after.get(txHash) !== block) dropped.add(txHash);
    await askAgain();
  }

  await treasury.untilEnded(() => chain.mineEmpty(1), LIMIT_MS, BLOCK_EVERY_MS);
  const allAgain = async () => {
    await chain.mineEmpty(1);
    await askAgain();
    expect((await inBlocks()).size).toBe(payouts.length);
  };
  await eventually(allAgain, 60_000, 250);
  await treasury.expectPaidOnce(payouts, await paymentsOf(payouts));
  // Nothing was signed again: every transaction there is has the bytes it had before its block was dropped.
  const signed = await treasury.signed();
  expect(signed.size).toBe(payouts.length);
  for (const [hash, raw] of signed) expect(raw).toBe(bytes.get(hash));
  expect(dropped.size).toBeGreaterThanOrEqual(ROUNDS);
});

it(`${PAYOUTS} payouts, a quarter of their broadcasts unanswered: one transaction each`, async () => {
  proxy.set({ kind: 'lose answers', methods: { eth_sendRawTransaction: LOST } });
  const made: Payout[] = [];
  for (let i = 0; i < PAYOUTS; i++) made.push(await pay(i % 3 === 0 ? 'USDC_ERC20' : 'ETH'));
  await treasury.untilEnded(() => chain.mineEmpty(1), LIMIT_MS, BLOCK_EVERY_MS);
  await treasury.expectPaidOnce(made, await paymentsOf(made));
  for (const { asset, amount, to } of made) {
    expect(await chain.balance(asset as Asset, to as Hex)).toBe(amount);
  }
  const { asked, lost } = proxy.counted('eth_sendRawTransaction');
  expect(asked).toBeGreaterThanOrEqual(PAYOUTS);
  expect(lost).toBeGreaterThan((PAYOUTS * LOST) / 2);
});
