import type { SolanaPorts } from '../../ports.ts';
import { historyOf, noteHistory, unknownHashes } from '../../store/wallets.ts';

/** As many as a node gives at once. When there are more, the newest are looked at: lost commits are among those. */
const SIGNATURES_MAX = 1_000;

/**
 * Why the hot wallet must not sign, or undefined when it may: the chain has transactions signed by it that this database
 * does not have. Either the database has lost commits, and payouts that look unpaid are paid, or another party has the
 * key. What was there before this database was first used with the wallet is not looked at.
 */
export async function unknownHistory({
  db,
  chain,
  sender,
}: Pick<SolanaPorts, 'db' | 'chain' | 'sender'>): Promise<string | undefined> {
  const { hotAddress } = sender;
  const known = await historyOf(db, chain, hotAddress);
  if (known === undefined) {
    const [newest] = await sender.signatures(null, 1);
    await noteHistory(db, chain, hotAddress, newest ?? null);
    return undefined;
  }
  // The chain first: what it has of ours was stored before.
  const since = await sender.signatures(known.signature, SIGNATURES_MAX);
  for (const signature of await unknownHashes(db, since)) {
    // Others name the wallet too, when they pay it. Noted one by one: a call that fails does not begin all anew. What
    // lies between two of them is known.
    if (!(await sender.isSignedByHot(signature))) {
      await noteHistory(db, chain, hotAddress, signature);
      continue;
    }
    return `the chain has a transaction of the hot wallet ${hotAddress} that this database does not know (${signature}): nothing is signed until an operator decides`;
  }
  const newest = since.at(-1);
  if (newest !== undefined) await noteHistory(db, chain, hotAddress, newest);
  return undefined;
}
