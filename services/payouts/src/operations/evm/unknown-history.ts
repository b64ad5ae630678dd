import type { EvmPorts } from '../../ports.ts';
import { nextNonce } from '../../store-wallets.ts';

/**
 * Why the hot wallet must not sign, or undefined when it may: the chain has used nonces that this database never gave
 * out. Either the database has lost commits, and payouts that look unpaid are paid, or somebody else has the key.
 */
export async function unknownHistory({
  db,
  chain,
  sender,
}: Pick<EvmPorts, 'db' | 'chain' | 'sender'>): Promise<string | undefined> {
  // The chain first: what it has of ours was stored before, so that a signature in between does not look strange.
  const used = await sender.nonce(sender.hotAddress, 'latest');
  const next = await nextNonce(db, chain, sender.hotAddress);
  if (next === undefined || used <= next) return undefined;
  return `the chain has transactions of this wallet that this database does not know (${sender.hotAddress}: nonce ${used}, here ${next}): nothing is signed until an operator decides`;
}
