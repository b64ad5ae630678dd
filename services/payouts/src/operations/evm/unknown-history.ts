import type { EvmPorts } from '../../ports.ts';
import { nextNonce } from '../../store-wallets.ts';

/** `used`: how many nonces of the hot wallet the chain has used. */
export type History = { used: number; unknown: string | undefined };

/**
 * How far the chain has come with the hot wallet, and why that must not sign, or undefined when it may: the chain has
 * used nonces that this database never gave out. Either the database has lost commits, and payouts that look unpaid
 * are paid, or somebody else has the key.
 */
export async function readHistory({
  db,
  chain,
  sender,
}: Pick<EvmPorts, 'db' | 'chain' | 'sender'>): Promise<History> {
  // The chain first: what it has of ours was stored before, so that a signature in between does not look strange.
  const used = await sender.nonce(sender.hotAddress, 'latest');
  const next = await nextNonce(db, chain, sender.hotAddress);
  if (next === undefined || used <= next) return { used, unknown: undefined };
  const unknown = `the chain has transactions of this wallet that this database does not know (${sender.hotAddress}: nonce ${used}, here ${next}): nothing is signed until an operator decides`;
  return { used, unknown };
}
