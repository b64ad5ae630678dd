import { describe, expect, it } from '@jest/globals';
import type { Utxo } from '@quittance/chains/bitcoin/spend';
import { units } from '@quittance/shared/money';
import { seeded } from '@quittance/testkit/seeded';
import { createBitcoinChain } from './bitcoin-chain.ts';
import type { Ask, ReorgFate } from './chain.ts';
import { createSolanaChain } from './solana-chain.ts';
import { FINAL_LAG, LIFETIME } from './solana-net.ts';

const options = () => ({ random: seeded(7), now: () => new Date(Date.UTC(2026, 0, 1)) });
const ask: Ask = async (_what, give) => give();
const loses: Ask = async (_what, give) => {
  give();
  throw new Error('the answer was lost');
};
const SOL = 10n ** 9n;

function bitcoin() {
  const chain = createBitcoinChain(options());
  const sender = chain.sender(ask);
  const pay = (to: string, amount = 5_000_000n) => chain.pay({ asset: 'BTC', to, amount });
  const paidTo = (to: string) => chain.truth().filter((one) => one.to === to);
  return { chain, sender, pay, paidTo, reader: chain.reader(ask) };
}

/** The hot wallet's coins, and a payout of them. */
async function bitcoinPayout(fee = 1_000n) {
  const environment = bitcoin();
  const { chain, sender } = environment;
  chain.fundHot('BTC', 30_000_000n);
  const { outputs } = await sender.unspentOf(sender.hotAddress);
  const utxos = outputs.map((one): Utxo => ({ ...one, branch: 'hot', index: 0 }));
  const to = chain.recipient(1);
  const order = (of: readonly Utxo[], paid: bigint, recipient = to) =>
    chain.signer.signSpend({
      utxos: [...of],
      recipients: [{ to: recipient, amount: units(1_000_000n) }],
      change: {
        index: 1,
        amount: units(of.reduce((sum, { amount }) => sum + amount, 0n) - 1_000_000n - paid),
      },
      fee: units(paid),
    });
  return { ...environment, utxos, to, order, signed: await order(utxos.slice(0, 1), fee) };
}

describe('the simulated Bitcoin', () => {
  it('shows what waits, then the block it is in', async () => {
    const { chain, reader, pay } = bitcoin();
    const to = chain.depositAddress(3);
    const watch = reader.watchPending?.();
    const txHash = pay(to);
    expect(await watch?.look()).toMatchObject({
      height: 0,
      fresh: expect.arrayContaining([expect.objectContaining({ txHash, address: to })]),
    });
    expect(chain.isWaiting()).toBe(true);
    chain.mine();
    expect((await watch?.look())?.has(txHash)).toBe(false);
    const [block] = await reader.blocksAfter(0, 10);
    expect(block?.payments).toContainEqual(
      expect.objectContaining({ txHash, address: to, amount: 5_000_000n }),
    );
    expect(chain.balance('BTC', to)).toBe(5_000_000n);
  });

  it.each<[ReorgFate, mined: number, waiting: boolean]>([
    ['moved', 1, false],
    ['pending', 0, true],
    ['forgotten', 0, false],
    ['replaced', 0, false],
  ])('is reorganised to a longer chain; what was there is %s', async (fate, mined, waiting) => {
    const { chain, reader, pay, paidTo } = bitcoin();
    const to = chain.depositAddress(3);
    pay(to);
    chain.mine(2);
    const before = await reader.head();
    expect(chain.reorg(2, fate)).toBe(before.height - 2);
    expect(chain.height()).toBe(3);
    expect(await reader.hashAt(before.height)).not.toBe(before.hash);
    expect(paidTo(to)).toHaveLength(mined);
    expect(chain.isWaiting()).toBe(waiting);
    chain.mineOld();
    // What nobody has any more comes back from who kept it; what was beaten never does.
    expect(paidTo(to)).toHaveLength(fate === 'forgotten' ? 1 : mined);
  });

  it('takes an output once, the dearer in place of the cheaper, and never what was beaten', async () => {
    const { chain, sender, utxos, order, signed, to, paidTo } = await bitcoinPayout();
    const cheap = await order(utxos.slice(0, 1), 1_100n, chain.recipient(2));
    const dear = await order(utxos.slice(0, 1), 5_000n, chain.recipient(3));
    expect(await sender.broadcast(signed.raw)).toBe('accepted');
    expect(await sender.broadcast(cheap.raw)).toBe('rejected');
    expect(await sender.replacementFee(signed.txHash, signed.virtualBytes)).toBe(
      1_000n + BigInt(signed.virtualBytes),
    );
    expect(await sender.broadcast(dear.raw)).toBe('accepted');
    expect(await sender.status(signed.txHash)).toEqual({ state: 'absent' });
    chain.mine();
    expect(await sender.status(dear.txHash)).toMatchObject({
      state: 'mined',
      confirmations: 1,
      feePaid: 5_000n,
    });
    expect(await sender.broadcast(signed.raw)).toBe('rejected');
    chain.mineOld();
    expect(paidTo(to)).toEqual([]);
    expect(await sender.findSpenders([utxos[0]?.outpoint ?? ''], 1, chain.height())).toMatchObject([
      { txHash: dear.txHash },
    ]);
    expect(
      (await sender.unspent([utxos[0]?.outpoint ?? '', `${dear.txHash}:1`])).map((one) => one?.confirmations),
    ).toEqual([undefined, 1]);
  });

  it('evicts, and whoever kept it mines it all the same', async () => {
    const { chain, sender, signed, to, paidTo } = await bitcoinPayout();
    await sender.broadcast(signed.raw);
    chain.forgetPool();
    expect(await sender.status(signed.txHash)).toEqual({ state: 'absent' });
    expect(await sender.inputsOf(signed.txHash)).toBeUndefined();
    chain.mineOld();
    expect(paidTo(to)).toMatchObject([{ isOurs: true, amount: 1_000_000n, confirmations: 1 }]);
  });

  it('lets wait what offers too little', async () => {
    const { chain, sender, signed, to, paidTo } = await bitcoinPayout(500n);
    chain.setFees('high');
    await sender.broadcast(signed.raw);
    chain.mine(3);
    expect(await sender.status(signed.txHash)).toEqual({ state: 'pending' });
    chain.setFees('usual');
    chain.mine();
    expect(paidTo(to)).toHaveLength(1);
  });

  it('takes bytes whose answer is lost', async () => {
    const { chain, signed } = await bitcoinPayout();
    expect(await chain.sender(loses).broadcast(signed.raw)).toBe('unknown');
    expect(await chain.sender(ask).status(signed.txHash)).toEqual({ state: 'pending' });
  });

  it('lets a customer take back what waits, and nothing else', () => {
    const { chain, pay, paidTo } = bitcoin();
    const to = chain.depositAddress(3);
    const first = pay(to);
    expect(chain.replace(first)).toBe(true);
    chain.mine();
    expect(paidTo(to)).toEqual([]);
    const second = pay(to);
    chain.mine();
    expect(chain.replace(second)).toBe(false);
  });
});

async function solana(hot = 10n * SOL) {
  const chain = createSolanaChain({ ...options(), random: () => 0.5 });
  const sender = chain.sender(ask);
  chain.fundHot('SOL', hot);
  const to = chain.recipient(1);
  const { tokenAccount } = await sender.rents();
  const order = async (amount = SOL, asset: 'SOL' | 'USDC_SOL' = 'SOL', recipient = to) => ({
    asset,
    to: recipient,
    amount: units(amount),
    tokenAccountRent: tokenAccount,
    priorityFee: 10_000n,
    lifetime: await sender.lifetime(),
  });
  return { chain, sender, to, order, reader: chain.reader(ask) };
}

describe('the simulated Solana', () => {
  it('shows what is voted for, and counts what is final', async () => {
    const { chain, sender, reader, to } = await solana();
    const before = await reader.head();
    const txHash = chain.pay({ asset: 'USDC_SOL', to, amount: 3n });
    const watch = reader.watchPending?.();
    chain.mine();
    expect((await watch?.look())?.fresh).toMatchObject([{ txHash, asset: 'USDC_SOL', amount: 3n }]);
    expect(await sender.balance('USDC_SOL', to)).toBe(0n);
    expect(await reader.blocksAfter(before.height, 9)).toMatchObject([{ payments: [] }]);
    chain.mine(FINAL_LAG);
    expect(await sender.balance('USDC_SOL', to)).toBe(3n);
    expect((await reader.blocksAfter(before.height, 9)).flatMap(({ payments }) => payments)).toHaveLength(1);
    chain.reorg(FINAL_LAG, 'forgotten');
    expect(await sender.balance('USDC_SOL', to)).toBe(3n);
  });

  it('takes nothing any more once its time is over, which proves it expired', async () => {
    const { chain, sender, order, to } = await solana();
    const final = await sender.finalizedHeight();
    const signed = await chain.signer.signTransfer(await order());
    chain.mine(LIFETIME + FINAL_LAG);
    expect(await sender.nonInclusion(signed.txHash, signed.validToHeight, final)).toBe('unproven');
    chain.mine();
    expect(await sender.broadcast(signed.raw)).toBe('accepted');
    chain.mine(1 + FINAL_LAG);
    chain.mineOld();
    expect(await sender.nonInclusion(signed.txHash, signed.validToHeight, final)).toBe('proven');
    expect(chain.balance('SOL', to)).toBe(0n);
  });

  it('takes the same bytes once, and other bytes for the same payment as well', async () => {
    const { chain, sender, order, to } = await solana();
    const signed = await chain.signer.signTransfer(await order());
    await sender.broadcast(signed.raw);
    chain.mine();
    await sender.broadcast(signed.raw);
    chain.mine();
    expect(chain.balance('SOL', to)).toBe(SOL);
    await sender.broadcast((await chain.signer.signTransfer(await order())).raw);
    chain.mine(1 + FINAL_LAG);
    expect(chain.balance('SOL', to)).toBe(2n * SOL);
    expect(await sender.status(signed.txHash)).toMatchObject({
      state: 'mined',
      succeeded: true,
      feePaid: 5_010n,
    });
    expect(await sender.signatures(null, 10)).toHaveLength(3);
  });

  it('may drop a block that is not final, with what was built on it', async () => {
    const { chain, sender, order, to } = await solana();
    chain.mine();
    const signed = await chain.signer.signTransfer(await order());
    await sender.broadcast(signed.raw);
    chain.mine();
    expect(await sender.status(signed.txHash)).toEqual({ state: 'pending' });
    chain.reorg(2, 'pending');
    chain.mine(2);
    expect(await sender.status(signed.txHash)).toEqual({ state: 'absent' });
    expect(chain.balance('SOL', to)).toBe(0n);
  });

  it('takes the fee of what fails, and the rent of what is opened', async () => {
    const { chain, sender, order, to } = await solana(2n * SOL);
    chain.fundHot('USDC_SOL', 50n);
    await expect(sender.tryTransfer(await order(3n * SOL))).rejects.toThrow('less SOL');
    expect(await sender.tryTransfer(await order(10n))).toBe('refused');
    const paid = await chain.signer.signTransfer(await order(20n, 'USDC_SOL'));
    const failing = await chain.signer.signTransfer(await order(90n, 'USDC_SOL'));
    for (const { raw } of [paid, failing]) await sender.broadcast(raw);
    chain.mine(1 + FINAL_LAG);
    expect(chain.balance('USDC_SOL', to)).toBe(20n);
    expect(await sender.status(paid.txHash)).toMatchObject({ succeeded: true, feePaid: paid.maxCost });
    expect(await sender.status(failing.txHash)).toMatchObject({
      succeeded: false,
      feePaid: failing.maxCost - failing.rentMax,
    });
    expect(await sender.balance('SOL', sender.hotAddress)).toBe(
      2n * SOL - paid.maxCost - failing.maxCost + failing.rentMax,
    );
  });
});
