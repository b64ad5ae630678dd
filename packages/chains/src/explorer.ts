import type { ChainSettings } from './settings.ts';
import { HASH_PLACE } from './settings-schema.ts';

const evmExplorers: Readonly<Record<number, string>> = {
  1: 'https://etherscan.io/tx/{tx}',
  11155111: 'https://sepolia.etherscan.io/tx/{tx}',
  8453: 'https://basescan.org/tx/{tx}',
  84532: 'https://sepolia.basescan.org/tx/{tx}',
  137: 'https://polygonscan.com/tx/{tx}',
  80002: 'https://amoy.polygonscan.com/tx/{tx}',
};

const bitcoinExplorers = {
  mainnet: 'https://mempool.space/tx/{tx}',
  // Testnet has had several lives, each with pages of its own.
  testnet: undefined,
  signet: 'https://mempool.space/signet/tx/{tx}',
  regtest: undefined,
} as const;

const solanaExplorers = {
  mainnet: 'https://explorer.solana.com/tx/{tx}',
  devnet: 'https://explorer.solana.com/tx/{tx}?cluster=devnet',
  testnet: 'https://explorer.solana.com/tx/{tx}?cluster=testnet',
  local: undefined,
} as const;

/** The explorer's page of a transaction; null where the network has no known explorer, as development chains have none. */
export function explorerUrl(settings: ChainSettings, txHash: string): string | null {
  const url = settings.explorerUrl ?? knownExplorer(settings);
  return url?.replace(HASH_PLACE, encodeURIComponent(txHash)) ?? null;
}

function knownExplorer(settings: ChainSettings): string | undefined {
  switch (settings.kind) {
    case 'bitcoin':
      return bitcoinExplorers[settings.network];
    case 'evm':
      return evmExplorers[settings.chainId];
    case 'solana':
      return solanaExplorers[settings.network];
  }
}
