import { type AssetSymbol, nativeAsset } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { createWalletClient, erc20Abi, type Hex, http } from 'viem';
import { anvil } from 'viem/chains';
import { faucet } from './ethereum.ts';

export type EthereumNode = { rpc: string; tokens: { USDC_ERC20: string } };

/** Sends money of the development accounts to an address. @returns the transaction's hash. */
export async function payFromFaucet(
  node: EthereumNode,
  asset: AssetSymbol,
  to: string,
  amount: Units,
): Promise<Hex> {
  const client = createWalletClient({ account: faucet, chain: anvil, transport: http(node.rpc) });
  if (asset === nativeAsset.ethereum) return await client.sendTransaction({ to: to as Hex, value: amount });
  if (asset !== 'USDC_ERC20') throw new Error(`the faucet has no ${asset}`);
  return await client.writeContract({
    address: node.tokens.USDC_ERC20 as Hex,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [to as Hex, amount],
  });
}
