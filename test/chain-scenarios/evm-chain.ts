import type { AnvilHandle } from '@quittance/engines/anvil';
import { anvil } from '@quittance/stack/anvil-chain';
import { deploySplitter, deployTestUsdc, mintTestUsdc } from '@quittance/stack/test-usdc';
import { testAnvil } from '@quittance/testkit/engines';
import {
  createTestClient,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
  parseGwei,
  publicActions,
  walletActions,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import type { Paid } from './money-out.ts';

const WORDS = 'test test test test test test test test test test test junk';
const GAS = 200_000n;
const FEES = { maxFeePerGas: parseGwei('50'), maxPriorityFeePerGas: parseGwei('1') };
/** The first four bytes of a call of transfer(address,uint256). */
const TRANSFER = '0xa9059cbb';
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
export async function startEvmChain({ payers: count = 12, slotsInAnEpoch = 2 } = {}) {
  const node: AnvilHandle = await testAnvil({ accounts: count, slotsInAnEpoch });
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
    /** Every payment to these addresses that the chain holds, read block by block from its beginning. */
    async paymentsTo(addresses: readonly string[]): Promise<Map<string, Paid[]>> {
      const found = new Map<string, Paid[]>(addresses.map((address) => [address, []]));
      const head = await client.getBlockNumber();
      for (let blockNumber = 0n; blockNumber <= head; blockNumber++) {
        const block = await client.getBlock({ blockNumber, includeTransactions: true });
        for (const { hash, to, value, input } of block.transactions) {
          const receipt = await client.getTransactionReceipt({ hash });
          if (receipt.status !== 'success') continue;
          if (value > 0n) found.get(to ?? '')?.push({ asset: 'ETH', amount: value, txHash: hash });
          if (to !== usdc || !input.startsWith(TRANSFER)) continue;
          const { args } = decodeFunctionData({ abi: usdcAbi, data: input });
          const [recipient, amount] = args as [Hex, bigint];
          found.get(recipient.toLowerCase())?.push({ asset: 'USDC_ERC20', amount, txHash: hash });
        }
      }
      return found;
    },
    stop: () => node.stop(),
  };
}
