import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { formatUnits, units } from '@quittance/shared/money';
import { Address, TEST_NETWORK } from '@scure/btc-signer';
import { createBitcoinReader } from '../src/bitcoin/reader.ts';
import { signSpend } from '../src/bitcoin/spend.ts';
import { keysOf } from '../src/bitcoin/wallet.ts';
import type { ChainReader } from '../src/chain.ts';
import { connectRpc, RpcUnavailable } from '../src/json-rpc.ts';
import { type BitcoinChain, bitcoinChain, outpointOf, wallet } from './bitcoin-chain.ts';

let chain: BitcoinChain;
beforeAll(async () => {
  chain = await bitcoinChain();
});
afterAll(() => chain.stop());

let addresses = 0;
/** Of no wallet: to derive thousands of keys takes seconds. */
const newAddress = () => {
  const hash = createHash('ripemd160').update(`${addresses++}`).digest();
  return Address({ ...TEST_NETWORK, bech32: 'bcrt' }).encode({ type: 'wpkh', hash });
};
const height = () => chain.node.rpc<number>('getblockcount');

/** What a block paid to an address. */
async function paid(at: number, address: string) {
  const block = await chain.reader.block(at);
  return block?.payments.filter((payment) => payment.address === address);
}

test('the head and its block are what the node says, and the first block has no parent', async () => {
  await chain.node.mine(2);
  const head = await chain.reader.head();
  expect(head).toMatchObject({ height: await height(), hash: await chain.node.rpc('getbestblockhash') });
  expect(Math.abs(head.time.getTime() - Date.now())).toBeLessThan(3_600_000);
  expect(await chain.reader.block(head.height)).toMatchObject({
    ...head,
    parentHash: await chain.node.rpc('getblockhash', head.height - 1),
  });
  expect((await chain.reader.block(0))?.parentHash).toBe('0'.repeat(64));
});

/** A reader: `before` is called with what it asks the node for, and `told` changes the blocks that the node gives. */
function asking(
  before: (method: string) => Promise<void>,
  told: (block: { height: number }) => object = (block) => block,
) {
  const { rpc } = chain;
  return createBitcoinReader({
    network: 'regtest',
    rpc: {
      ...rpc,
      async call(method, params, ...more) {
        await before(method);
        const answer = await rpc.call(method, params, ...more);
        return method === 'getblock' ? told(answer as { height: number }) : answer;
      },
      async batch(calls, ...more) {
        for (const { method } of calls) await before(method);
        return await rpc.batch(calls, ...more);
      },
    },
  });
}
const heightsAfter = async (reader: ChainReader, from: number, limit: number) =>
  (await reader.blocksAfter(from, limit)).map((block) => block.height - from);

test('blocks after a height are one question each, and one for the first hash', async () => {
  await chain.node.mine(4);
  const from = (await height()) - 4;
  const asked: string[] = [];
  const reader = asking(async (method) => void asked.push(method));
  expect(await heightsAfter(reader, from, 4)).toEqual([1, 2, 3, 4]);
  expect(asked).toEqual(['getblockhash', ...Array.from({ length: 4 }, () => 'getblock')]);
});

test.each([
  ['names no next block', () => null, [1, 2, 3, 4]],
  ['names one that is not the next', (at: number) => chain.node.rpc('getblockhash', at), [1]],
])('blocks after a height are those of the chain where the node %s', async (_what, nextOf, expected) => {
  await chain.node.mine(4);
  const from = (await height()) - 4;
  const named = await nextOf(from + 4);
  const reader = asking(
    () => Promise.resolve(),
    (block) => ({ ...block, nextblockhash: named }),
  );
  expect(await heightsAfter(reader, from, 9)).toEqual(expected);
});

test('blocks after a height end before one that a reorganisation takes out while they are read', async () => {
  await chain.node.mine(3);
  const from = (await height()) - 3;
  let blocks = 0;
  const reader = asking(async (method) => {
    if (method === 'getblock') blocks += 1;
    if (method === 'getblock' && blocks === 2) await chain.node.reorganise(2);
  });
  expect(await heightsAfter(reader, from, 3)).toEqual([1]);
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
    await chain.node.pay(address, bitcoins);
    await chain.node.mine(1);
    expect(await paid(await height(), address)).toMatchObject([{ asset: 'BTC', amount: satoshi }]);
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
    const { raw, txHash } = await signSpend('regtest', keysOf('regtest', wallet), {
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

test('a block of five transactions of 1,000 outputs is read whole, in less than a second of work', async () => {
  const faucet = faucetOf(chain);
  const sent = new Map<string, bigint>();
  for (let i = 0; i < 5; i++) {
    const some = Array.from({ length: 1_000 }, (_, n) => [newAddress(), 10_000n + BigInt(n)] as const);
    for (const [address, amount] of some) sent.set(address, amount);
    const outputs = Object.fromEntries(
      some.map(([address, amount]) => [address, formatUnits(units(amount), 8)]),
    );
    await faucet.call('sendmany', ['', outputs], 60_000);
  }
  await faucet.close();
  await chain.node.mine(1);
  const at = await height();
  let block: Awaited<ReturnType<typeof chain.reader.block>>;
  const took: number[] = [];
  // The least of three: what else this process does meanwhile, as collecting garbage, is counted too.
  for (let i = 0; i < 3; i++) {
    const started = process.cpuUsage();
    block = await chain.reader.block(at);
    const { user, system } = process.cpuUsage(started);
    took.push((user + system) / 1_000);
  }
  expect(Math.min(...took)).toBeLessThan(1_000);
  const ours = block?.payments.filter(({ address }) => sent.has(address));
  expect(new Map(ours?.map(({ address, amount }) => [address, amount]))).toEqual(sent);
});

function faucetOf({ node }: BitcoinChain) {
  const url = new URL(node.rpcUrl);
  url.pathname = '/wallet/faucet';
  return connectRpc(url.href);
}

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
    const faucet = faucetOf(chain);
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
