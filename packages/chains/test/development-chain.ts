import { deploySplitter, deployTestUsdc } from '@quittance/stack/test-usdc';
import { testAnvil } from '@quittance/testkit/engines';
import { createTestClient, type Hex, http, parseAbi, publicActions, walletActions } from 'viem';
import { anvil } from 'viem/chains';
import { connectRpc, type Rpc } from '../src/json-rpc.ts';

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

export type DevelopmentChain = {
  node: Awaited<ReturnType<typeof testAnvil>>;
  /** A client that is not ours: what it says is compared with what ours say. */
  client: ReturnType<typeof connect>;
  rpc: Rpc;
  usdc: Hex;
  splitter: Hex;
  /** A rich account the node signs for. */
  payer: Hex;
  /** Sends a transaction of the payer, which waits for a block. @returns its hash. */
  send(transaction: { to: Hex; value?: bigint; data?: Hex }): Promise<Hex>;
  /** Takes the newest blocks away and puts as many empty ones there, or ones with the given raw transactions. */
  reorg(depth: number, transactions?: [raw: Hex, offset: number][]): Promise<void>;
  stop(): Promise<void>;
};

/** An Ethereum node with a test USD Coin and a splitter, that mines when told to. */
export async function developmentChain(): Promise<DevelopmentChain> {
  const node = await testAnvil({ slotsInAnEpoch: 2 });
  const client = connect(node.rpcUrl);
  const rpc = connectRpc(node.rpcUrl);
  const [payer] = await client.getAddresses();
  if (payer === undefined) throw new Error('the node has no account');
  return {
    node,
    client,
    rpc,
    usdc: (await deployTestUsdc(node.rpcUrl)) as Hex,
    splitter: await deploySplitter(node.rpcUrl),
    payer: payer.toLowerCase() as Hex,
    send: (transaction) => client.sendTransaction({ account: payer, gas: 500_000n, ...transaction }),
    reorg: async (depth, transactions = []) => {
      await client.request({ method: 'anvil_reorg', params: [depth, transactions] } as never);
    },
    stop: async () => {
      await rpc.close();
      await node.stop();
    },
  };
}

let last = 0;

/** An address nobody has used. */
export function newAddress(): Hex {
  last += 1;
  return `0x${(0xabcd_0000_0000n + BigInt(last)).toString(16).padStart(40, '1')}`;
}
