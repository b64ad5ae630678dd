import type { Chain } from '@quittance/shared/assets';

/** The usual time between two blocks of a chain's main network, in milliseconds. On Solana a height is a slot. */
export const blockTimeMs = {
  bitcoin: 600_000,
  ethereum: 12_000,
  base: 2_000,
  polygon: 2_000,
  solana: 400,
} as const satisfies Record<Chain, number>;
