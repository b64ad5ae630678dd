import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { formatUnits, units } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import { seeded } from '@quittance/testkit/seeded';
import type { Hex } from 'viem';
import { type EvmChain, startEvmChain } from './evm-chain.ts';
import { evmMerchants } from './evm-merchants.ts';
import { type MoneyOut, type Payout, startMoneyOut } from './money-out.ts';
import { DEPTH_MAX } from './reorg-script.ts';
import { seedOr, sized } from './size.ts';

/**
 * Payouts whose blocks are dropped, one to six deep, before they are final for us and after: the same bytes bring
 * them again, and nobody is paid twice.
 */
const ROUNDS = sized(4, 20);
const PAYOUTS_A_ROUND = 5;
/** Fewer than the deepest reorganisation, so that some are called mined before they are dropped. */
const CONFIRMATIONS = 4;
const random = seeded(seedOr(6));
const upTo = (n: number) => Math.floor(random() * n);

let chain: EvmChain;
let treasury: MoneyOut;
let account: AccountId;

beforeAll(async () => {
  // Finality beyond the deepest reorganisation: what is final is not reorganised.
  chain = await startEvmChain({ payers: 2, slotsInAnEpoch: 32 });
  treasury = await startMoneyOut(
    {
      ETH: { rate: '2500', confirmations: CONFIRMATIONS },
      USDC_ERC20: { rate: '1', confirmations: CONFIRMATIONS },
    },
    { ETHEREUM_RPC_URL: chain.node.rpcUrl, ETHEREUM_CHAIN_ID: '31337', ETHEREUM_USDC_ADDRESS: chain.usdc },
  );
  [account] = (await evmMerchants(chain, treasury, 1, 100n * 10n ** 18n)) as [AccountId];
  await chain.mineEmpty(DEPTH_MAX + 1);
});
afterAll(async () => {
  await treasury?.stop();
  await chain?.stop();
});

type Signed = { tx_hash: Hex; raw: Hex };
/** What was signed, in the order of its nonces. */
const signed = (): Promise<Signed[]> =>
  treasury.db.rows<Signed>(
    `select tx_hash, raw from payouts.transactions where purpose = 'payout' order by nonce, attempt`,
  );

/** Of what was signed, that which is in a block now, and in which. */
async function inBlocks(): Promise<Map<Hex, Hex>> {
  const found = new Map<Hex, Hex>();
  for (const { tx_hash } of await signed()) {
    // The client throws where there is none: it is in no block.
    const receipt = await chain.client.getTransactionReceipt({ hash: tx_hash }).catch(() => undefined);
    if (receipt !== undefined) found.set(tx_hash, receipt.blockHash);
  }
  return found;
}

it('payouts whose blocks are dropped come again by the same bytes, once', async () => {
  const payouts: Payout[] = [];
  const dropped = new Set<Hex>();
  const bytes = new Map<string, Hex>();
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < PAYOUTS_A_ROUND; i++) {
      const amount = BigInt(1_000_000 + payouts.length);
      const to = `0x${(0xfade_0000 + payouts.length).toString(16).padStart(40, 'c')}`;
      const order = { asset: 'ETH' as const, amount, to, text: formatUnits(units(amount), 18) };
      payouts.push(await treasury.payout(account, order));
    }
    await eventually(async () => {
      const { n } = await treasury.db.one<{ n: number }>(
        `select count(*)::int as n from payouts.payouts where status in ('requested', 'reserved', 'signed')`,
      );
      expect(n).toBe(0);
    });
    await chain.mineEmpty(1 + upTo(DEPTH_MAX));
    if (upTo(3) === 0) {
      // Long enough for some to be called mined.
      await eventually(async () => {
        await chain.mineEmpty(1);
        expect(await treasury.pending()).toBe(0);
      });
    }
    for (const { tx_hash, raw } of await signed()) bytes.set(tx_hash, raw);

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
    // Of what was called mined the chain is asked once a minute: the minute is over.
    await treasury.db.rows('update payouts.transactions set looked_at = null where final_at is null');
  }

  await eventually(
    async () => {
      await chain.mineEmpty(1);
      expect(await treasury.pending()).toBe(0);
      await treasury.db.rows('update payouts.transactions set looked_at = null where final_at is null');
      expect((await inBlocks()).size).toBe((await signed()).length);
    },
    60_000,
    250,
  );
  await treasury.heard();

  const paid = await chain.paymentsTo(payouts.map(({ to }) => to));
  for (const { to, amount, status, txHash } of await treasury.ended(payouts)) {
    expect({ to, status, paid: paid.get(to) }).toEqual({
      to,
      status: 'mined',
      paid: [{ asset: 'ETH', amount, txHash }],
    });
  }
  // Nothing was signed again: every transaction there is has the bytes it had before its block was dropped.
  const now = await signed();
  expect(now).toHaveLength(payouts.length);
  for (const { tx_hash, raw } of now) expect(raw).toBe(bytes.get(tx_hash));
  expect(dropped.size).toBeGreaterThanOrEqual(ROUNDS);
  expect(await treasury.discrepancies(['I1', 'I2', 'I3', 'I4'])).toEqual([]);
});
