import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import type { AccountId } from '@quittance/shared/ids';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import { seeded } from '@quittance/testkit/seeded';
import { p2wpkh } from '@scure/btc-signer';
import { pubECDSA } from '@scure/btc-signer/utils.js';
import { type BitcoinChain, decimal, REGTEST, startBitcoinChain } from './bitcoin-chain.ts';
import { SEED } from './fixture.ts';
import { type MoneyOut, type Payout, startMoneyOut } from './money-out.ts';
import { DEPTH_MAX } from './reorg-script.ts';
import { seedOr, sized } from './size.ts';

/**
 * Payouts on a real Bitcoin Core: half of the broadcasts lose their answer, and blocks are dropped. Each payout
 * is one output of one transaction, of exactly its amount.
 */
const PAYOUTS = sized(16, 150);
const ROUNDS = sized(2, 12);
const PAYOUTS_A_ROUND = 4;
const LOST = 0.5;
const CONFIRMATIONS = 2;
const DEPOSITS = sized(20, 40);
const DEPOSIT = 2_000_000n;
const LIMIT_MS = 200_000;
const BLOCK_EVERY_MS = 250;
const random = seeded(seedOr(84));
const upTo = (n: number) => Math.floor(random() * n);

let chain: BitcoinChain;
let proxy: FaultProxy;
let treasury: MoneyOut;
let account: AccountId;

beforeAll(async () => {
  chain = await startBitcoinChain();
  proxy = await startFaultProxy(chain.node.rpcUrl, seedOr(84));
  treasury = await startMoneyOut(
    { BTC: { rate: '60000', confirmations: CONFIRMATIONS } },
    { BITCOIN_RPC_URL: proxy.url, BITCOIN_NETWORK: 'regtest' },
  );
  account = await merchant();
});
afterAll(async () => {
  await treasury?.stop();
  await proxy?.close();
  await chain?.stop();
});

/** A merchant whose customers have paid: all it has lies in coins on deposit addresses. */
async function merchant(): Promise<AccountId> {
  const wallet = openBitcoinWallet('regtest', SEED);
  const merchant = treasury.newAccount();
  const outputs = Array.from({ length: DEPOSITS }, (_, index) => ({
    address: wallet.address('deposit', index),
    amount: DEPOSIT,
  }));
  const blockHash = await chain.mine([chain.sign(await chain.take(20), outputs)]);
  const { height, tx } = await chain.node.rpc<{ height: number; tx: string[] }>('getblock', blockHash);
  // Deeper than any reorganisation to come.
  await chain.mineEmpty(DEPTH_MAX + 1);
  await Promise.all(
    outputs.map(({ address, amount }, index) => {
      const place = { index, address, height, blockHash, outpoint: `${tx[1]}:${index}` };
      return treasury.credit(merchant, { asset: 'BTC', amount, ...place });
    }),
  );
  return merchant;
}

let recipients = 0;
function order() {
  recipients += 1;
  const key = new Uint8Array(32).fill(3);
  new DataView(key.buffer).setUint32(0, recipients);
  const to = p2wpkh(pubECDSA(key), REGTEST).address as string;
  // No two alike, so that a payment can be told by its amount as well.
  const amount = BigInt(20_000 + upTo(50) * 1_000 + recipients);
  return { asset: 'BTC' as const, amount, to, text: decimal(amount) };
}

const mineUntilEnded = () => treasury.untilEnded(() => chain.node.mine(1), LIMIT_MS, BLOCK_EVERY_MS);
const expectPaidOnce = async (payouts: readonly Payout[]) =>
  treasury.expectPaidOnce(payouts, await chain.paymentsTo(payouts.map(({ to }) => to)));

it(`${PAYOUTS} payouts, half of their broadcasts unanswered: one output each`, async () => {
  proxy.set({ kind: 'lose answers', methods: { sendrawtransaction: LOST } });
  const payouts: Payout[] = [];
  for (let i = 0; i < PAYOUTS; i++) {
    payouts.push(await treasury.payout(account, order()));
    // What waits together is paid together: few at a time, so that there are many broadcasts.
    if (i % 2 === 1) await treasury.handedOut();
    if (i % 10 === 9) await chain.node.mine(1);
  }
  await mineUntilEnded();
  await expectPaidOnce(payouts);
  const { asked, lost } = proxy.counted('sendrawtransaction');
  expect(lost).toBeGreaterThan(0);
  expect(lost / asked).toBeGreaterThan(LOST / 4);
  proxy.set({ kind: 'pass' });
});

it('payouts whose blocks are dropped are mined again by the same bytes', async () => {
  const payouts: Payout[] = [];
  const bytes = new Map<string, string>();
  let dropped = 0;
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < PAYOUTS_A_ROUND; i++) payouts.push(await treasury.payout(account, order()));
    await treasury.handedOut();
    for (const [hash, raw] of await treasury.signed()) bytes.set(hash, raw);
    const depth = 1 + upTo(DEPTH_MAX);
    // Of these the first has the payouts; the branch that wins has none of them.
    await chain.node.mine(1);
    await chain.mineEmpty(depth - 1);
    dropped += (await inBlocks()).length;
    await chain.reorg(
      depth,
      Array.from({ length: depth + 1 }, () => []),
    );
    dropped -= (await inBlocks()).length;
  }
  await mineUntilEnded();
  await expectPaidOnce(payouts);
  expect(await treasury.signed()).toEqual(bytes);
  expect(await inBlocks()).toHaveLength(bytes.size);
  expect(dropped).toBeGreaterThanOrEqual(ROUNDS);
});

/** Of what was signed, what the chain has. */
async function inBlocks(): Promise<string[]> {
  const found: string[] = [];
  for (const tx_hash of (await treasury.signed()).keys()) {
    const { confirmations = 0 } = await chain.node
      .rpc<{ confirmations?: number }>('getrawtransaction', tx_hash, 1)
      .catch(() => ({}) as { confirmations?: number });
    if (confirmations > 0) found.push(tx_hash);
  }
  return found;
}
