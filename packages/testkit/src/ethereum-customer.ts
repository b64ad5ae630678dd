import { faucet } from '@quittance/sandbox/ethereum';
import { payFromFaucet } from '@quittance/sandbox/faucet';
import { deploySplitter, payBySplitter } from '@quittance/sandbox/test-usdc';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { parseUnits } from '@quittance/shared/money';
import { createPublicClient, createTestClient, createWalletClient, erc20Abi, type Hex, http } from 'viem';
import { anvil } from 'viem/chains';

export type Customer = {
  /** Sends `amount` (decimal text) to an address; it waits in the pool until a block is mined. */
  pay(asset: AssetSymbol, to: string, amount: string): Promise<Hex>;
  /** Sends Ether through a contract: no transaction names the address. */
  payByContract(to: string, amount: string): Promise<Hex>;
  mine(blocks?: number): Promise<void>;
  /** Replaces the newest `depth` blocks by empty ones, one more than there were: what they held is gone. */
  dropBlocks(depth: number): Promise<void>;
  balance(asset: AssetSymbol, address: string): Promise<bigint>;
  transactions(address: string): Promise<Hex[]>;
};

const units = (asset: AssetSymbol, text: string): bigint => {
  const parsed = parseUnits(text, assets[asset].decimals);
  if (!parsed.ok) throw new Error(`${text} is no amount of ${asset}`);
  return parsed.value;
};

/** Somebody with money on the development chain, who can also decide when blocks come. */
export function ethereumCustomer(rpcUrl: string, usdc: string): Customer {
  const transport = http(rpcUrl);
  const node = createPublicClient({ chain: anvil, transport, cacheTime: 0 });
  const control = createTestClient({ chain: anvil, mode: 'anvil', transport });
  const wallet = createWalletClient({ account: faucet, chain: anvil, transport });
  return {
    pay: (asset, to, amount) =>
      payFromFaucet({ rpc: rpcUrl, tokens: { USDC_ERC20: usdc } }, asset, to, units(asset, amount) as never),
    async payByContract(to, amount) {
      const splitter = await deploySplitter(rpcUrl);
      return await payBySplitter(wallet, splitter, to as Hex, units('ETH', amount));
    },
    mine: (blocks = 1) => control.mine({ blocks }),
    async dropBlocks(depth) {
      await control.request({ method: 'anvil_reorg', params: [depth, []] } as never);
      await control.mine({ blocks: 1 });
    },
    balance: (asset, address) =>
      asset === 'ETH'
        ? node.getBalance({ address: address as Hex })
        : node.readContract({
            address: usdc as Hex,
            abi: erc20Abi,
            functionName: 'balanceOf',
            args: [address as Hex],
          }),
    async transactions(address) {
      const head = await node.getBlockNumber();
      const found: Hex[] = [];
      for (let height = 0n; height <= head; height++) {
        const block = await node.getBlock({ blockNumber: height, includeTransactions: true });
        const hashes = block.transactions
          .filter((tx) => tx.to?.toLowerCase() === address.toLowerCase())
          .map((tx) => tx.hash);
        found.push(...hashes);
      }
      return found;
    },
  };
}
