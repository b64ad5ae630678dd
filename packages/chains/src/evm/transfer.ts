import type { AssetSymbol } from '@quittance/shared/assets';
import type { Hex } from 'viem';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import type { TransactionCall } from './cost.ts';
import { contractOf, type EvmNetwork } from './network.ts';
import { checkAddress } from './wallet.ts';

const abi = parseAbi(['function transfer(address to, uint256 amount) returns (bool)']);

/** What a transfer calls. A node is asked to estimate it, and a signer signs it. */
export function transferCall(
  network: EvmNetwork,
  asset: AssetSymbol,
  to: string,
  amount: bigint,
): TransactionCall {
  const recipient = checkAddress(to) as Hex | undefined;
  if (recipient === undefined) throw new Error(`${to} is no address`);
  const contract = contractOf(network, asset);
  if (contract === undefined) return { to: recipient, value: amount, data: '0x' };
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [recipient, amount] });
  return { to: contract as Hex, value: 0n, data };
}
