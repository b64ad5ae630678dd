/** What a transaction offers for each unit of gas, in wei: at most this much in all, and of it this much to its block's maker. */
export type EvmFees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };
