import { units } from './money.ts';

/*
 * The highest fees that are ever offered. Who decides a fee stays below them, and the signer signs nothing above: what offers more
 * wants to waste money.
 */

/** On EVM chains a fee is raised to at most so many times that of the first attempt. */
export const FEE_TIMES_MAX = 10n;
/** More than three times what a token sweep is given, and more than any transfer is. */
export const GAS_MAX = 500_000n;
/** In satoshi, for a transaction of any size: 0.05 BTC. */
export const BITCOIN_FEE_MAX = units(5_000_000n);
/** On Solana: above it, a node's answer is not believed. In millionths of a lamport per compute unit. */
export const PRIORITY_FEE_CAP = 1_000_000n;
/** It doubles with each of five attempts, and differs a little from payout to payout. */
export const PRIORITY_FEE_TIMES_MAX = 33n;
