import type { AnvilHandle } from '@quittance/engines/anvil';
import { deploySplitter, deployTestUsdc, mintTestUsdc } from '@quittance/sandbox/test-usdc';
import { testAnvil } from '@quittance/testkit/engines';
import {
  createTestClient,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
  parseGwei,
  publicActions,
  walletActions,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { anvil } from 'viem/chains';

const WORDS = 'test test test test test test test test test test test junk';
const GAS = 200_000n;
const FEES = { maxFeePerGas: parseGwei('50'), maxPriorityFeePerGas: parseGwei('1') };
const MINTED = 10n ** 15n;

export const usdcAbi = parseAbi([
  'function transfer(address to, uint256 amount) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
]);
const splitterAbi = parseAbi(['function split(address[] to) payable']);

export type Call = { to: Hex; value?: bigint; data?: Hex; gas?: bigint };
export type Asset = 'ETH' | 'USDC_ERC20';

export type EvmChain = Awaited<ReturnType<typeof startEvmChain>>;

/** A real Ethereum node whose blocks hold what a test puts into them, and payers with money of both kinds. */
export async function startEvmChain({ payers: count = 12 } = {}) {
  const node: AnvilHandle = await testAnvil({ accounts: count, slotsInAnEpoch: 2 });
  const client = createTestClient({ chain: anvil, mode: 'anvil', transport: http(node.rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);
  const usdc = (await deployTestUsdc(node.rpcUrl)) as Hex;
  const splitter = await deploySplitter(node.rpcUrl);
  const payers = Array.from({ length: count }, (_, addressIndex) =>
    mnemonicToAccount(WORDS, { addressIndex }),
  );
  for (const { address } of payers.slice(1)) await mintTestUsdc(node.rpcUrl, usdc, address, MINTED);

  async function mine(raws: readonly Hex[]): Promise<void> {
    const hashes = await Promise.all(
      raws.map((serializedTransaction) => client.sendRawTransaction({ serializedTransaction })),
    );
    await client.mine({ blocks: 1 });
    if (hashes.length === 0) return;
    const { transactions } = await client.getBlock();
    const missing = hashes.filter((hash) => !transactions.includes(hash));
    if (missing.length > 0) throw new Error(`the block lacks ${missing.join(', ')}`);
  }

  return {
    node,
    client,
    usdc,
    payers,
    mine,
    async mineEmpty(blocks: number): Promise<void> {
      await client.mine({ blocks });
    },
    /** Replaces the newest `depth` blocks by these, which are more. */
    async reorg(depth: number, blocks: readonly (readonly Hex[])[]): Promise<void> {
      if (blocks.length <= depth) throw new Error('a branch that wins is longer');
      const pairs = blocks.slice(0, depth).flatMap((block, offset) => block.map((raw) => [raw, offset]));
      await client.request({ method: 'anvil_reorg', params: [depth, pairs] } as never);
      for (const block of blocks.slice(depth)) await mine(block);
    },
    /** The next nonce that the chain expects of a payer. */
    nonce: (payer: number) =>
      client.getTransactionCount({ address: (payers[payer] as (typeof payers)[number]).address }),
    /** A transaction of a payer, ready to be put into blocks as often as one likes. */
    sign(payer: number, nonce: number, call: Call): Promise<Hex> {
      const account = payers[payer] as (typeof payers)[number];
      return account.signTransaction({
        type: 'eip1559',
        chainId: anvil.id,
        nonce,
        gas: GAS,
        ...FEES,
        ...call,
      });
    },
    transfer: (asset: Asset, to: Hex, amount: bigint): Call =>
      asset === 'ETH'
        ? { to, value: amount }
        : {
            to: usdc,
            data: encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [to, amount] }),
          },
    /** Ether by a contract: no transaction and no log names who gets it. */
    inside: (to: readonly Hex[], amount: bigint): Call => ({
      to: splitter,
      value: amount,
      data: encodeFunctionData({ abi: splitterAbi, functionName: 'split', args: [to] }),
    }),
    balance: (asset: Asset, address: Hex): Promise<bigint> =>
      asset === 'ETH'
        ? client.getBalance({ address })
        : client.readContract({ address: usdc, abi: usdcAbi, functionName: 'balanceOf', args: [address] }),
    stop: () => node.stop(),
  };
}
