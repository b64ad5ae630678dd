import { randomBytes } from 'node:crypto';
import { anvil } from '@quittance/stack/anvil-chain';
import { faucet, payOnEthereum } from '@quittance/stack/ethereum';
import { deploySplitter, payBySplitter } from '@quittance/stack/test-usdc';
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  erc20Abi,
  type Hex,
  http,
  parseAbiItem,
} from 'viem';
import { type Customer as AnyCustomer, unitsOf } from './customer.ts';

export type Customer = AnyCustomer & {
  /** Sends Ether through a contract: no transaction names the address. */
  payByContract(to: string, amount: string): Promise<string>;
  /** Replaces the newest `depth` blocks by empty ones, one more than there were: what they held is gone. */
  dropBlocks(depth: number): Promise<void>;
  /** The newest block's. */
  height(): Promise<number>;
};

const transferred = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');

/** A customer on anvil. */
export function ethereumCustomer(rpcUrl: string, usdc: string): Customer {
  const at = { rpc: rpcUrl, tokens: { USDC_ERC20: usdc } };
  const transport = http(at.rpc);
  const node = createPublicClient({ chain: anvil, transport, cacheTime: 0 });
  const control = createTestClient({ chain: anvil, mode: 'anvil', transport });
  const wallet = createWalletClient({ account: faucet, chain: anvil, transport });
  // One after the other: the next payment's nonce is known when the node has the one before.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(send: () => Promise<T>): Promise<T> => {
    const sent = last.then(send, send);
    last = sent.catch(() => undefined);
    return sent;
  };
  return {
    pay: (asset, to, amount) =>
      inTurn(() => payOnEthereum(at, asset, { to, amount: unitsOf(asset, amount) })),
    payByContract: (to, amount) =>
      inTurn(async () => {
        // Deployed by the account that pays: it too waits for its turn.
        const splitter = await deploySplitter(at.rpc);
        return await payBySplitter(wallet, splitter, to as Hex, unitsOf('ETH', amount));
      }),
    newAddress: async () => `0x${randomBytes(20).toString('hex')}`,
    mine: (blocks = 1) => control.mine({ blocks }),
    async dropBlocks(depth) {
      await control.request({ method: 'anvil_reorg', params: [depth, []] } as never);
      await control.mine({ blocks: 1 });
    },
    // eslint-disable-next-line no-restricted-syntax -- a height
    height: async () => Number(await node.getBlockNumber()),
    balance: (asset, address) =>
      asset === 'ETH'
        ? node.getBalance({ address: address as Hex })
        : node.readContract({
            address: at.tokens.USDC_ERC20 as Hex,
            abi: erc20Abi,
            functionName: 'balanceOf',
            args: [address as Hex],
          }),
    async transactions(to) {
      const head = await node.getBlockNumber();
      const found: Hex[] = [];
      for (let height = 0n; height <= head; height++) {
        const block = await node.getBlock({ blockNumber: height, includeTransactions: true });
        const hashes = block.transactions
          .filter((tx) => tx.to?.toLowerCase() === to.toLowerCase())
          .map((tx) => tx.hash);
        found.push(...hashes);
      }
      const address = at.tokens.USDC_ERC20 as Hex;
      const transfers = { event: transferred, args: { to: to as Hex } };
      const logs = await node.getLogs({ address, ...transfers, fromBlock: 0n, toBlock: head });
      return [...found, ...logs.map(({ transactionHash }) => transactionHash)];
    },
  };
}
