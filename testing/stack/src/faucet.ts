import { type AssetSymbol, assets, type Chain } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { z } from 'zod';

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
  // Each chain's library takes a second to load, of a command that a person types.
  if (chain === 'ethereum')
    return await (await import('./ethereum.ts')).payOnEthereum(ethereum, asset, payment);
  if (chain === 'bitcoin' && bitcoin !== undefined)
    return await (await import('./bitcoin.ts')).payOnBitcoin(bitcoin, [payment]);
  if (chain === 'solana' && solana !== undefined)
    return await (await import('./solana.ts')).payOnSolana(solana, [{ asset, ...payment }]);
  throw new Error(`this sandbox has no node of ${nameOf(chain)}, so nobody can pay ${asset} here`);
}

const nameOf = (chain: Chain): string => chain.charAt(0).toUpperCase() + chain.slice(1);
