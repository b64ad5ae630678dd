import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import type { SignedSpend, Spend, Utxo } from '../src/bitcoin/spend.ts';
import { type BitcoinChain, bitcoinChain, outpointOf, wallet } from './bitcoin-chain.ts';

let chain: BitcoinChain;
beforeAll(async () => {
  chain = await bitcoinChain();
});
afterAll(() => chain.stop());

let indexes = 0;
const someone = 'bcrt1qqurswpc8qurswpc8qurswpc8qurswpc8dxm0gk';
const height = () => chain.node.rpc<number>('getblockcount');

/** A coin of ours in the chain. */
async function funded(bitcoins = '1'): Promise<Utxo> {
  indexes += 1;
  const address = wallet.address('deposit', indexes);
  const txHash = await chain.node.pay(address, bitcoins);
  await chain.node.mine(1);
  const outpoint = await outpointOf(chain.node, txHash, address);
  const [found] = await chain.sender.unspent([outpoint]);
  if (found === undefined) throw new Error('the coin is there');
  return { outpoint, branch: 'deposit', index: indexes, amount: found.amount };
}

async function signed(spend: Spend | string): Promise<SignedSpend & { spend: Spend }> {
  if (typeof spend === 'string') throw new Error(spend);
  return { ...(await chain.signer.signSpend(spend)), spend };
}

/** Signed, of one coin, paying somebody. */
async function payout(utxo: Utxo, feeRate = 5n) {
  return signed(
    chain.sender.selectUtxos({
      available: [utxo],
      recipients: [{ to: someone, amount: units(100_000n) }],
      changeIndex: utxo.index,
      feeRate,
      feeMax: units(1_000_000n),
    }),
  );
}

test('the fee rate is a few satoshi a byte on a chain that knows nothing, and a usual payout costs that', async () => {
  expect(await chain.sender.feeRate()).toBe(2n);
  expect(await chain.sender.estimatedFee('BTC')).toBe(420n);
});

test('what an address has is read from the chain', async () => {
  const address = wallet.address('deposit', 900);
  expect(await chain.sender.balance('BTC', address)).toBe(0n);
  await chain.node.pay(address, '0.1');
  await chain.node.pay(address, '0.20000001');
  expect(await chain.sender.balance('BTC', address)).toBe(0n);
  await chain.node.mine(1);
  expect(await chain.sender.balance('BTC', address)).toBe(30_000_001n);
  await expect(chain.sender.balance('ETH', address)).rejects.toThrow('not an asset');
});

describe('a transaction', () => {
  test('is taken, waits and is mined, also again after a reorganisation; its change is ours', async () => {
    const { raw, txHash, fee, spend } = await payout(await funded());
    expect(await chain.sender.broadcast(raw)).toBe('accepted');
    await chain.node.mine(3);
    const mined = { state: 'mined', succeeded: true, feePaid: fee };
    expect(await chain.sender.status(txHash)).toMatchObject({ ...mined, confirmations: 3 });
    await chain.node.reorganise(3);
    expect(await chain.sender.status(txHash)).toEqual({ state: 'pending' });
    expect(await chain.sender.broadcast(raw)).toBe('accepted');
    await chain.node.mine(1);
    expect(await chain.sender.status(txHash)).toEqual({
      ...mined,
      height: await height(),
      blockHash: await chain.node.rpc('getbestblockhash'),
      confirmations: 1,
    });
    expect(await chain.sender.unspent([`${txHash}:1`, `${txHash}:7`])).toEqual([
      { confirmations: 1, amount: spend.change?.amount },
      undefined,
    ]);
  });

  test('spends deposits, the hot address and change together', async () => {
    const deposit = await funded('0.5');
    const hotTx = await chain.node.pay(wallet.hotAddress, '0.6');
    const changeTx = await chain.node.pay(wallet.address('change', 3), '0.7');
    await chain.node.mine(1);
    const hot = await outpointOf(chain.node, hotTx, wallet.hotAddress);
    const change = await outpointOf(chain.node, changeTx, wallet.address('change', 3));
    const { raw, txHash } = await signed(
      chain.sender.selectUtxos({
        available: [
          deposit,
          { outpoint: hot, branch: 'hot', index: 0, amount: units(60_000_000n) },
          { outpoint: change, branch: 'change', index: 3, amount: units(70_000_000n) },
        ],
        recipients: [{ to: someone, amount: units(170_000_000n) }],
        changeIndex: 4,
        feeRate: 1n,
        feeMax: units(10_000n),
      }),
    );
    expect(await chain.sender.broadcast(raw)).toBe('accepted');
    await chain.node.mine(1);
    expect(await chain.sender.status(txHash)).toMatchObject({ state: 'mined' });
    expect(await chain.sender.unspent([deposit.outpoint, hot, change])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(new Set(await chain.sender.inputsOf(txHash))).toEqual(new Set([deposit.outpoint, hot, change]));
    expect(await chain.sender.inputsOf('ab'.repeat(32))).toBeUndefined();
  });

  test('may be sent again when what it paid is spent', async () => {
    // To the hot address alone, from which it is spent at once.
    const utxo = await funded();
    const amount = units(utxo.amount - 500n);
    const first = await signed({
      utxos: [utxo],
      recipients: [{ to: wallet.hotAddress, amount }],
      change: null,
      fee: units(500n),
    });
    expect(await chain.sender.broadcast(first.raw)).toBe('accepted');
    await chain.node.mine(1);
    const hot = { outpoint: `${first.txHash}:0`, branch: 'hot', index: 0, amount } as const;
    expect(await chain.sender.broadcast((await payout(hot)).raw)).toBe('accepted');
    await chain.node.mine(1);
    expect(await chain.sender.broadcast(first.raw)).toBe('accepted');
    expect(await chain.sender.status(first.txHash)).toMatchObject({ state: 'mined', confirmations: 2 });
  });

  test('of coins that another one spent in a block is rejected', async () => {
    const utxo = await funded();
    const [one, other] = [await payout(utxo, 5n), await payout(utxo, 6n)];
    expect(await chain.sender.broadcast(one.raw)).toBe('accepted');
    await chain.node.mine(1);
    expect(await chain.sender.broadcast(other.raw)).toBe('rejected');
    expect(await chain.sender.status(other.txHash)).toEqual({ state: 'absent' });
  });
});

describe('after a reorganisation', () => {
  test('one whose coin another one spent is absent, though the node still knows it, and who spent the coin is found', async () => {
    const utxo = await funded();
    const from = (await height()) + 1;
    const [one, other] = [await payout(utxo, 5n), await payout(utxo, 6n)];
    await chain.sender.broadcast(one.raw);
    await chain.node.mine(2);
    expect(await chain.sender.findSpenders([utxo.outpoint], from, await height())).toMatchObject([
      { outpoint: utxo.outpoint, txHash: one.txHash, height: from },
    ]);
    await chain.node.reorganise(2, [[], [other.raw]]);
    // The trap: it is still answered, with the block that is no more.
    expect(await chain.node.rpc('getrawtransaction', one.txHash, 1)).toMatchObject({ confirmations: 0 });
    expect(await chain.sender.status(one.txHash)).toEqual({ state: 'absent' });
    expect(await chain.sender.status(other.txHash)).toMatchObject({ state: 'mined', confirmations: 2 });
    expect(await chain.sender.findSpenders([utxo.outpoint], from, await height())).toEqual([
      {
        outpoint: utxo.outpoint,
        txHash: other.txHash,
        height: from + 1,
        blockHash: await chain.node.rpc('getblockhash', from + 1),
      },
    ]);
    await expect(chain.sender.findSpenders([utxo.outpoint], from, (await height()) + 1)).rejects.toThrow();
  });
});

describe('a replacement', () => {
  test('takes the place of one that waits, at the fee it was told', async () => {
    const utxo = await funded();
    const first = await payout(utxo, 1n);
    await chain.sender.broadcast(first.raw);
    const least = await chain.sender.replacementFee(first.txHash, first.virtualBytes);
    expect(least).toBe(first.fee + BigInt(first.virtualBytes));
    const second = await signed(
      chain.sender.selectUtxos({
        available: [],
        required: first.spend.utxos,
        recipients: first.spend.recipients,
        changeIndex: utxo.index,
        feeRate: 1n,
        feeMin: units(least ?? 0n),
        feeMax: units(1_000_000n),
      }),
    );
    expect(await chain.sender.broadcast(second.raw)).toBe('accepted');
    expect(await chain.sender.status(first.txHash)).toEqual({ state: 'absent' });
    await chain.node.mine(1);
    expect(await chain.sender.status(second.txHash)).toMatchObject({ state: 'mined', feePaid: second.fee });
    expect(await chain.sender.replacementFee(second.txHash, 200)).toBeUndefined();
  });

  test('of less than that is refused', async () => {
    const utxo = await funded();
    await chain.sender.broadcast((await payout(utxo, 5n)).raw);
    expect(await chain.sender.broadcast((await payout(utxo, 4n)).raw)).toBe('rejected');
  });
});

test('what an address received is found in the blocks, and what of it is unspent in the chain', async () => {
  const address = wallet.address('deposit', 901);
  const from = (await height()) + 1;
  const txHash = await chain.node.pay(address, '0.25');
  await chain.node.mine(1);
  const outpoint = await outpointOf(chain.node, txHash, address);
  const outputs = [{ outpoint, amount: 25_000_000n }];
  expect(await chain.sender.received(address, from, await height())).toEqual(outputs);
  expect(await chain.sender.received(address, from + 1, await height())).toEqual([]);
  expect(await chain.sender.unspentOf(address)).toEqual({ height: await height(), outputs });
  await expect(chain.sender.received(address, from, (await height()) + 1)).rejects.toThrow();
});

test('what is a hundred blocks deep is final', async () => {
  expect(await chain.sender.finalizedHeight()).toBe((await height()) - 100);
});

test('without an index of transactions a node cannot be sent through', async () => {
  const without = await bitcoinChain(['-txindex=0']);
  try {
    await expect(without.sender.check()).rejects.toThrow('-txindex=1');
    // It would say of a mined transaction that there is no such.
    await expect(without.sender.status('ab'.repeat(32))).rejects.toThrow('-txindex');
  } finally {
    await without.stop();
  }
});
