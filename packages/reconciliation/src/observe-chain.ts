import type { ChainSettings } from '@quittance/chains/settings';
import type { ChainObserver } from './chain-observer.ts';
import { observeBitcoin } from './observe-bitcoin.ts';
import { observeEvm } from './observe-evm.ts';
import { observeSolana } from './observe-solana.ts';

/** Observes a chain through one of the configured nodes. */
export function observeChain(settings: ChainSettings, url: string): ChainObserver {
  switch (settings.kind) {
    case 'bitcoin':
      return observeBitcoin(url);
    case 'evm':
      return observeEvm(url, settings);
    case 'solana':
      return observeSolana(url, settings);
  }
}
