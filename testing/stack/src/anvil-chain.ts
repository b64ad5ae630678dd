import { defineChain } from 'viem';

/**
 * The chain of anvil, as viem needs it. It is not taken from `viem/chains`: that loads the definitions of all chains there
 * are, half a second of CPU in each process.
 */
export const anvil = defineChain({
  id: 31_337,
  name: 'Anvil',
  nativeCurrency: { decimals: 18, name: 'Ether', symbol: 'ETH' },
  rpcUrls: { default: { http: ['http://127.0.0.1:8545'] } },
});
