/**
 * Whether a node has not come to the block in which a transaction was final: it is new, or lags. That it does not know
 * the transaction shows no reorganisation then.
 * @param finalized the height of the node's last final block
 */
export const isNodeBehind = (
  finalized: number,
  { finalAt, blockHeight }: { finalAt: Date | null; blockHeight: number | null },
): boolean => finalAt !== null && blockHeight !== null && finalized < blockHeight;
