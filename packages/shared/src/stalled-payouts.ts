import type { Chain } from './assets.ts';

const MINUTES = 60;
const HOURS = 60 * MINUTES;

/**
 * A payout that is pending for longer than this makes no progress: its chain needs a small part of it, with confirmations
 * and raised fees, when everything works. Documented in docs/runbook.md.
 */
export const stalledAfterSeconds = {
  bitcoin: 3 * HOURS,
  ethereum: 30 * MINUTES,
  base: 30 * MINUTES,
  polygon: 30 * MINUTES,
  solana: 10 * MINUTES,
} as const satisfies Record<Chain, number>;
