import { type AssetSymbol, assets, type Chain } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { z } from 'zod';
import { payOnBitcoin } from './bitcoin.ts';
import { payOnEthereum } from './ethereum.ts';
import { payOnSolana } from './solana.ts';

/** The chain nodes of a sandbox, as its sandbox.json lists them. A machine may have none for some chains. */
export const nodesSchema = z.object({
  ethereum: z.object({ rpc: z.string(), tokens: z.object({ USDC_ERC20: z.string() }) }),
  bitcoin: z.object({ rpc: z.string() }).optional(),
  solana: z.object({ rpc: z.string(), tokens: z.object({ USDC_SOL: z.string() }) }).optional(),
});
export type Nodes = z.infer<typeof nodesSchema>;

type Payment = { to: string; amount: Units };

/** Sends money that is worth nothing to an address. @returns the transaction's hash. */
export async function payFromFaucet(nodes: Nodes, asset: AssetSymbol, payment: Payment): Promise<string> {
  const { chain } = assets[asset];
  const { ethereum, bitcoin, solana } = nodes;
  if (chain === 'ethereum') return await payOnEthereum(ethereum, asset, payment);
  if (chain === 'bitcoin' && bitcoin !== undefined) return await payOnBitcoin(bitcoin, [payment]);
  if (chain === 'solana' && solana !== undefined) return await payOnSolana(solana, [{ asset, ...payment }]);
  throw new Error(`this sandbox has no node of ${nameOf(chain)}, so nobody can pay ${asset} here`);
}

const nameOf = (chain: Chain): string => chain.charAt(0).toUpperCase() + chain.slice(1);
