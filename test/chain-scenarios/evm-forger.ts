import { expect } from '@jest/globals';
import { anvil } from '@quittance/stack/anvil-chain';
import { encodeFunctionData, type Hex, keccak256, pad, parseAbi, toHex } from 'viem';
import { type Asset, type EvmChain, startEvmChain, usdcAbi } from './evm-chain.ts';
import { creation, type Instruction, runtime } from './evm-code.ts';
import { startEvmMoneyIn } from './money-in.ts';

export const CONFIRMATIONS = 3;
export const ETHER = 10n ** 18n;
export const DUE = { ETH: ETHER / 100n, USDC_ERC20: 25_000_000n } as const;
const GAS = 5_000_000n;
export const TRANSFER = keccak256(toHex('Transfer(address,address,uint256)'));
export const tokenAbi = parseAbi([
  'function mint(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function transferFrom(address from, address to, uint256 amount)',
]);

/** A shop on a real Ethereum node, and somebody who forges payments to it. */
export async function startEvmForger() {
  const chain = await startEvmChain({ payers: 3 });
  const payer = chain.payers[1] as EvmChain['payers'][number];
  let nonce = await chain.nonce(1);
  const shop = await startEvmMoneyIn(chain, CONFIRMATIONS);

  /** A transaction of the forger in a block of its own, with the outcome it is meant to have. */
  async function send(what: Sent, status: 'success' | 'reverted' = 'success') {
    const raw = await payer.signTransaction({
      ...{ type: 'eip1559', chainId: anvil.id, nonce: nonce++, gas: GAS },
      ...{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n },
      ...what,
    });
    await chain.mine([raw]);
    const receipt = await chain.client.getTransactionReceipt({ hash: keccak256(raw) });
    expect(receipt.status).toBe(status);
    return receipt;
  }

  /** Leaves a contract that does these things whenever it is called. */
  async function contract(...instructions: Instruction[]): Promise<Hex> {
    const { contractAddress } = await send({ data: creation(runtime(...instructions)) });
    if (contractAddress == null) throw new Error('no contract was made');
    return contractAddress;
  }

  /** The log of a token's transfer from the forger. */
  const transferLog = (to: Hex, amount: bigint): Instruction => ({
    log: [TRANSFER, pad(payer.address), pad(to)],
    data: [word(amount)],
  });

  return {
    chain,
    shop,
    payer,
    send,
    contract,
    transferLog,
    async stop() {
      await shop.stop();
      await chain.stop();
    },
  };
}

export type EvmForger = Awaited<ReturnType<typeof startEvmForger>>;

/** What the forger does to an address of ours, and what really comes to lie there. */
export type Spoof = [
  name: string,
  real: Partial<Record<Asset, bigint>>,
  forge: (to: Hex, forger: EvmForger) => Promise<unknown>,
];

type Sent = { to?: Hex; value?: bigint; data?: Hex; gas?: bigint };

export const word = (value: bigint): Hex => pad(toHex(value));
export const transferCall = (to: Hex, amount: bigint): Hex =>
  encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [to, amount] });
export const mintCall = (to: Hex, amount: bigint): Hex =>
  encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [to, amount] });
/** Somebody whose address differs from ours in its middle, as forgers like it. */
export const alike = (to: Hex): Hex =>
  `${to.slice(0, 20)}${(BigInt(`0x${to[20]}`) ^ 1n).toString(16)}${to.slice(21)}` as Hex;
