import { anvil } from '@quittance/stack/anvil-chain';
import { deploySplitter, deployTestUsdc } from '@quittance/stack/test-usdc';
import { testAnvil } from '@quittance/testkit/engines';
import {
  concat,
  createTestClient,
  type Hex,
  http,
  pad,
  parseAbi,
  publicActions,
  toHex,
  walletActions,
} from 'viem';
import { connectRpc } from '../src/json-rpc.ts';

export const PHRASE = 'test test test test test test test test test test test junk';
export const CHAIN_ID = anvil.id;
export const abi = parseAbi([
  'function transfer(address to, uint256 amount) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
  'function split(address[] to) payable',
]);

const connect = (url: string) =>
  createTestClient({ chain: anvil, mode: 'anvil', transport: http(url), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);

/** An Ethereum node with a test USD Coin and a splitter, that mines when told to. */
export async function developmentChain() {
  const node = await testAnvil({ slotsInAnEpoch: 2 });
  const client = connect(node.rpcUrl);
  const rpc = connectRpc(node.rpcUrl);
  const [payer] = await client.getAddresses();
  if (payer === undefined) throw new Error('the node has no account');
  return {
    node,
    /** A client that is not ours: what it says is compared with what ours say. */
    client,
    rpc,
    usdc: (await deployTestUsdc(node.rpcUrl)) as Hex,
    splitter: await deploySplitter(node.rpcUrl),
    /** A rich account the node signs for. */
    payer: payer.toLowerCase() as Hex,
    /** Sends a transaction of the payer, which waits for a block. @returns its hash. */
    send: (transaction: { to: Hex; value?: bigint; data?: Hex }): Promise<Hex> =>
      client.sendTransaction({ account: payer, gas: 500_000n, ...transaction }),
    /** Takes the newest blocks away and puts as many empty ones there, or ones with the given raw transactions. */
    reorg: async (depth: number, transactions: [raw: Hex, offset: number][] = []) => {
      await client.request({ method: 'anvil_reorg', params: [depth, transactions] } as never);
    },
    stop: async () => {
      await rpc.close();
      await node.stop();
    },
  };
}

export type DevelopmentChain = Awaited<ReturnType<typeof developmentChain>>;

let last = 0;

/** An address nobody has used. */
export function newAddress(): Hex {
  last += 1;
  return `0x${(0xabcd_0000_0000n + BigInt(last)).toString(16).padStart(40, '1')}`;
}

/** Code that calls a token with 68 bytes: they go to memory in three words from the front. */
export function tokenCall(token: Hex, data: Hex): Hex {
  const padded = pad(data, { dir: 'right', size: 96 }).slice(2);
  const words = [0, 1, 2].map((i) =>
    concat(['0x7f', `0x${padded.slice(i * 64, i * 64 + 64)}`, '0x60', toHex(i * 32, { size: 1 }), '0x52']),
  );
  return concat([...words, '0x5f5f60445f5f73', token, '0x5af150']);
}
