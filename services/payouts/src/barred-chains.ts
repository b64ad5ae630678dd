type Barrable = { chain: string; signingBar: { reason: string | undefined } };

/**
 * The chains that nothing may be signed for, each with its reason. One of several keeps nobody from being served on the
 * others: then the service goes `without` it, and only when none is left does it wait.
 */
export function barredChains(chains: Iterable<Barrable>): { waitsFor: string[]; without: string[] } {
  const all = [...chains];
  const barred = all.flatMap(({ chain, signingBar: { reason } }) =>
    reason === undefined ? [] : [`the right wallet, network and database of ${chain}: ${reason}`],
  );
  return barred.length < all.length ? { waitsFor: [], without: barred } : { waitsFor: barred, without: [] };
}
