import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { createBitcoinReader } from '../src/bitcoin/reader.ts';
import { signSpend } from '../src/bitcoin/spend.ts';
import { WrongNetwork } from '../src/chain.ts';
import { connectRpc, RpcUnavailable } from '../src/json-rpc.ts';
import { type BitcoinChain, bitcoinChain, outpointOf, wallet } from './bitcoin-chain.ts';

let chain: BitcoinChain;
beforeAll(async () => {
  chain = await bitcoinChain();
});
afterAll(() => chain.stop());

let addresses = 0;
const newAddress = () => wallet.address('deposit', 1_000 + addresses++);
const height = () => chain.node.rpc<number>('getblockcount');

/** What a block paid to an address. */
async function paid(at: number, address: string) {
  const block = await chain.reader.block(at);
  return block?.payments.filter((payment) => payment.address === address);
}

test('a node of another network is refused, by the hash of its first block', async () => {
  await chain.reader.check();
  for (const network of ['mainnet', 'testnet', 'signet'] as const) {
    const other = createBitcoinReader({ rpc: chain.rpc, network });
    await expect(other.check()).rejects.toThrow(WrongNetwork);
  }
});

test('the head, blocks and hashes are what the node says', async () => {
  await chain.node.mine(2);
  const head = await chain.reader.head();
  expect(head.height).toBe(await height());
  expect(head.hash).toBe(await chain.node.rpc('getbestblockhash'));
  expect(Math.abs(head.time.getTime() - Date.now())).toBeLessThan(3_600_000);
  expect(await chain.reader.hashAt(head.height)).toBe(head.hash);
  expect(await chain.reader.hashAt(head.height + 1)).toBeUndefined();
  expect(await chain.reader.block(head.height + 1)).toBeUndefined();
  const block = await chain.reader.block(head.height);
  expect(block).toMatchObject({ height: head.height, hash: head.hash, time: head.time });
  expect(block?.parentHash).toBe(await chain.reader.hashAt(head.height - 1));
  expect((await chain.reader.block(0))?.parentHash).toBe('0'.repeat(64));
});

describe('a payment', () => {
  test.each([
    ['0.00000546', 546n],
    ['0.1', 10_000_000n],
    ['0.12345678', 12_345_678n],
    // As doubles, the sum of their parts is not what they say.
    ['0.29', 29_000_000n],
    ['1.15', 115_000_000n],
    ['100.00000001', 10_000_000_001n],
  ])('of %s is read to the satoshi', async (bitcoins, satoshi) => {
    const address = newAddress();
    const txHash = await chain.node.pay(address, bitcoins);
    await chain.node.mine(1);
    const outpoint = await outpointOf(chain.node, txHash, address);
    expect(await paid(await height(), address)).toEqual([
      {
        outpoint,
        txHash,
        // eslint-disable-next-line no-restricted-syntax -- the place of an output
        outputIndex: Number(outpoint.split(':')[1]),
        asset: 'BTC',
        address,
        amount: satoshi,
      },
    ]);
  });

  test('of a coinbase says that it counts a hundred blocks deep only', async () => {
    const address = newAddress();
    await chain.node.mine(1, address);
    expect(await paid(await height(), address)).toMatchObject([{ confirmationsMin: 100 }]);
  });

  test('to several of our addresses in one transaction is several, also to the same one twice', async () => {
    const [one, two] = [newAddress(), newAddress()];
    const funding = await chain.node.pay(wallet.address('deposit', 7), '1');
    await chain.node.mine(1);
    const outpoint = await outpointOf(chain.node, funding, wallet.address('deposit', 7));
    const { raw, txHash } = signSpend('regtest', wallet, {
      utxos: [{ outpoint, branch: 'deposit', index: 7, amount: units(100_000_000n) }],
      recipients: [
        { to: one, amount: units(1_000n) },
        { to: two, amount: units(2_000n) },
        { to: one, amount: units(1_000n) },
      ],
      change: { index: 0, amount: units(99_995_000n) },
      fee: units(1_000n),
    });
    await chain.node.rpc('sendrawtransaction', raw);
    await chain.node.mine(1);
    expect(await paid(await height(), one)).toMatchObject([
      { outpoint: `${txHash}:0`, amount: 1_000n },
      { outpoint: `${txHash}:2`, amount: 1_000n },
    ]);
    expect(await paid(await height(), two)).toMatchObject([{ outpoint: `${txHash}:1`, amount: 2_000n }]);
  });

  test('is none where no address is paid: data, and bare keys', async () => {
    const before = await height();
    await chain.node.rpc(
      'generatetodescriptor',
      1,
      `pk(02${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'})`,
    );
    expect((await chain.reader.block(before + 1))?.payments).toEqual([]);
  });
});

test('a transaction of 1,000 outputs, of which several are ours, is read whole', async () => {
  const ours = [newAddress(), newAddress(), newAddress()];
  const outputs = Object.fromEntries(Array.from({ length: 997 }, () => [newAddress(), '0.0001']));
  for (const [i, address] of ours.entries()) outputs[address] = `0.000${i + 2}`;
  const { hex } = await fundedBySendMany(outputs);
  expect(hex).toBeDefined();
  await chain.node.mine(1);
  const block = await chain.reader.block(await height());
  const amounts = ours.map(
    (address) => block?.payments.find((payment) => payment.address === address)?.amount,
  );
  expect(amounts).toEqual([20_000n, 30_000n, 40_000n]);
  expect(block?.payments.length).toBeGreaterThanOrEqual(1_000);
});

async function fundedBySendMany(outputs: Record<string, string>) {
  const url = new URL(chain.node.rpcUrl);
  url.pathname = '/wallet/faucet';
  const faucet = connectRpc(url.href);
  const txid = await faucet.call('sendmany', ['', outputs], 60_000);
  await faucet.close();
  return await chain.node.rpc<{ hex: string }>('getrawtransaction', txid, 1);
}

test('a block of 5,000 outputs takes less than a second of work', async () => {
  for (let i = 0; i < 5; i++) {
    await fundedBySendMany(Object.fromEntries(Array.from({ length: 1_000 }, () => [newAddress(), '0.0001'])));
  }
  await chain.node.mine(1);
  const started = process.cpuUsage();
  const block = await chain.reader.block(await height());
  const { user, system } = process.cpuUsage(started);
  expect((user + system) / 1_000).toBeLessThan(1_000);
  expect(block?.payments.length).toBeGreaterThanOrEqual(5_000);
});

describe('what waits', () => {
  test('is told again when a reorganisation takes it out of its block', async () => {
    const watch = chain.reader.watchPending?.();
    const txHash = await chain.node.pay(newAddress(), '0.5');
    await chain.node.mine(1);
    expect((await watch?.look())?.has(txHash)).toBe(false);
    await chain.node.reorganise(1);
    const look = await watch?.look();
    expect(look?.has(txHash)).toBe(true);
    expect(look?.fresh.some((payment) => payment.txHash === txHash)).toBe(true);
    await chain.node.mine(1);
  });

  // What the node says of its pool, and of what waits in it, is another's word.
  const saying = (info: object, waiting?: string[]) =>
    createBitcoinReader({
      network: 'regtest',
      rpc: {
        ...chain.rpc,
        async batch(calls, ...more) {
          const answers = await chain.rpc.batch(calls, ...more);
          return answers.map((answer, i) => {
            if (calls[i]?.method === 'getmempoolinfo') return { ...(answer as object), ...info };
            if (calls[i]?.method === 'getrawmempool') return waiting ?? answer;
            return answer;
          });
        },
      },
    }).watchPending?.();

  test('is not known to a node that is still loading it, and nothing is said to be gone', async () => {
    await expect(saying({ loaded: false })?.look()).rejects.toThrow(RpcUnavailable);
    expect(await saying({ loaded: true })?.look()).toMatchObject({ isComplete: true });
  });

  test('and is more than a look tells: that is said', async () => {
    const strangers = Array.from({ length: 5_001 }, (_, i) => i.toString(16).padStart(64, '0'));
    const txHash = await chain.node.pay(newAddress(), '0.5');
    const full = await saying({}, [...strangers.slice(0, 5_000), txHash])?.look();
    expect(full).toMatchObject({ fresh: [], isComplete: false });
    expect(await saying({}, [...strangers.slice(0, 4_999), txHash])?.look()).toMatchObject({
      isComplete: true,
    });
    await chain.node.mine(1);
  });

  test('is gone when another transaction takes its place', async () => {
    const url = new URL(chain.node.rpcUrl);
    url.pathname = '/wallet/faucet';
    const faucet = connectRpc(url.href);
    const watch = chain.reader.watchPending?.();
    const address = newAddress();
    const txHash = await chain.node.pay(address, '0.5');
    await watch?.look();
    const { txid } = (await faucet.call('bumpfee', [txHash])) as { txid: string };
    await faucet.close();
    const look = await watch?.look();
    expect([look?.has(txHash), look?.has(txid)]).toEqual([false, true]);
    expect(look?.fresh.filter((payment) => payment.address === address)).toMatchObject([{ txHash: txid }]);
    await chain.node.mine(1);
  });
});
