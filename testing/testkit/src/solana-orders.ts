import { createSolanaSigner } from '@quittance/chains/solana/signer';
import { openWallet } from '@quittance/chains/solana/wallet';
import { units } from '@quittance/shared/money';

export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
export const network = { name: 'local', usdcMint: USDC } as const;
export const wallet = openWallet(`${'abandon '.repeat(11)}about`);
export const signer = createSolanaSigner(network, wallet);
export const terms = {
  lifetime: { blockhash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG', lastValidBlockHeight: 150 },
  priorityFee: 10_000n,
};
export const rent = units(2_039_280n);

/** A transfer of the hot wallet, signed without a node. */
export const transfer = (other: Partial<Parameters<typeof signer.signTransfer>[0]> = {}) =>
  signer.signTransfer({
    asset: 'SOL',
    to: wallet.depositAddress(7),
    amount: units(5n),
    tokenAccountRent: rent,
    ...terms,
    ...other,
  });
