import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { formatUnits, type Units } from '@quittance/shared/money';
import { isAddress } from '@solana/kit';
import { mintOf, type SolanaNetwork, tokensOf } from './network.ts';
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './rpc.ts';

const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
/** Programs that people copy from an explorer instead of a wallet. Money sent there is lost. */
const NOBODYS = new Set([SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM, ASSOCIATED_TOKEN_PROGRAM]);

/**
 * The canonical form of an address somebody typed, or undefined when it is none: 32 bytes in base58. There is no
 * checksum, and all networks have the same addresses: a wrong letter is not noticed.
 *
 * Addresses that are no public key (of programs: vaults of several signers, say) can be paid, and are accepted. What
 * else can be known of an address only the node knows: whether it is a token account, a mint or a program, all of
 * which the sender refuses.
 */
export function checkAddress(network: SolanaNetwork, text: string): string | undefined {
  if (!isAddress(text) || NOBODYS.has(text) || tokensOf(network).has(text)) return undefined;
  return text;
}

/** What a wallet opens to pay `amount` to `address`, both filled in (Solana Pay). */
export function paymentUri(
  network: SolanaNetwork,
  asset: AssetSymbol,
  address: string,
  amount: Units,
): string {
  const mint = mintOf(network, asset);
  const uri = `solana:${address}?amount=${formatUnits(amount, assets[asset].decimals)}`;
  return mint === undefined ? uri : `${uri}&spl-token=${mint}`;
}
