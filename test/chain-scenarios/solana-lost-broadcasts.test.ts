import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openWallet } from '@quittance/chains/solana/wallet';
import { type SurfpoolHandle, startSurfpool } from '@quittance/engines/surfpool';
import type { AccountId } from '@quittance/shared/ids';
import { formatUnits, units } from '@quittance/shared/money';
import { payOnSolana, prepareSolana, type SolanaNode } from '@quittance/stack/solana';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import { seeded } from '@quittance/testkit/seeded';
import { solanaCustomer } from '@quittance/testkit/solana-customer';
import { SEED } from './fixture.ts';
import { type MoneyOut, type Paid, type Payout, startMoneyOut } from './money-out.ts';
import { seedOr, sized } from './size.ts';

/**
 * A quarter of the broadcasts to a real Solana runtime reach it and lose their answer, while what was signed expires
 * within seconds: nothing is signed again that may still be, or already was, taken. Each payout is one transaction.
 */
const PAYOUTS = sized(30, 150);
const LOST = 0.25;
const SEED_OF_FAILURES = seedOr(501);
/** Eight times the public networks' pace: signed bytes are valid for some seven seconds. */
const SLOT_MS = 50;
const LIMIT_MS = 240_000;
const SOL = 10n ** 9n;
const DEPOSITS = [
  ['SOL', 20n * SOL],
  ['USDC_SOL', 500_000_000n],
] as const;
const decimals = { SOL: 9, USDC_SOL: 6 } as const;

let node: SurfpoolHandle;
let proxy: FaultProxy;
let treasury: MoneyOut;
let chain: SolanaNode;

beforeAll(async () => {
  node = await startSurfpool({ port: 0, wsPort: 0, slotMs: SLOT_MS });
  proxy = await startFaultProxy(node.rpcUrl, SEED_OF_FAILURES);
  const hot = { address: openWallet(SEED).hotAddress, lamports: SOL, usdc: 0n };
  const mint = await prepareSolana(node.rpcUrl, hot);
  chain = { rpc: node.rpcUrl, tokens: { USDC_SOL: mint } };
  treasury = await startMoneyOut(
    { SOL: { rate: '150', confirmations: 1 }, USDC_SOL: { rate: '1', confirmations: 1 } },
    { SOLANA_RPC_URL: proxy.url, SOLANA_NETWORK: 'local', SOLANA_USDC_MINT: mint },
  );
});
afterAll(async () => {
  await treasury?.stop();
  await proxy?.close();
  await node?.stop();
});

/** A merchant whose customers have paid: what it has lies on deposit addresses and has to be swept. */
async function merchant(): Promise<AccountId> {
  const account = treasury.newAccount();
  for (const [index, [asset, amount]] of DEPOSITS.entries()) {
    const address = openWallet(SEED).depositAddress(index);
    const signature = await payOnSolana(chain, [{ asset, to: address, amount }]);
    const place = { address, index, outpoint: `${signature}:1`, height: 1, blockHash: '1'.repeat(44) };
    await treasury.credit(account, { asset, amount, ...place });
  }
  return account;
}

it(`${PAYOUTS} payouts, a quarter of their broadcasts unanswered: one transaction each`, async () => {
  const account = await merchant();
  proxy.set({ kind: 'lose answers', methods: { sendTransaction: LOST } });
  const strangers = openWallet('zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong');
  const random = seeded(SEED_OF_FAILURES);
  const payouts: Payout[] = [];
  for (let i = 0; i < PAYOUTS; i++) {
    const asset = i % 3 === 0 ? 'USDC_SOL' : 'SOL';
    // No two alike, so that a payment can be told by its amount as well.
    const amount = BigInt(1_000_000 + Math.floor(random() * 1_000) * 1_000 + i);
    const text = formatUnits(units(amount), decimals[asset]);
    payouts.push(await treasury.payout(account, { asset, amount, to: strangers.depositAddress(i), text }));
  }
  await treasury.untilEnded(async () => {}, LIMIT_MS, 250);

  const customer = solanaCustomer(chain);
  const paid = new Map<string, Paid[]>();
  for (const { asset, to } of payouts) {
    const amount = await customer.balance(asset, to);
    const transactions = await customer.transactions(to);
    paid.set(
      to,
      transactions.map((txHash) => ({ asset, amount, txHash })),
    );
  }
  await treasury.expectPaidOnce(payouts, paid);
  const { asked, lost } = proxy.counted('sendTransaction');
  expect(asked).toBeGreaterThanOrEqual(PAYOUTS);
  expect(lost).toBeGreaterThan((PAYOUTS * LOST) / 3);
});
