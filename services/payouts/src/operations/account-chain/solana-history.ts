import type { SolanaPorts } from '../../ports.ts';
import { historyOf, noteHistory, unknownHashes } from '../../store/wallets.ts';

/** The most that a node returns at once. When there are more, the newest are checked: lost commits are among them. */
const SIGNATURES_MAX = 1_000;

/**
 * Why the hot wallet must not sign: the chain has transactions signed by it that this database does not have. Either the
 * database has lost commits, and payouts that look unpaid are paid, or another party has the key. Transactions from
 * before this database was used with the wallet are not checked.
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
  // The chain is read first. Our transactions are stored before they are sent.
  const since = await sender.signatures(known.signature, SIGNATURES_MAX);
  for (const signature of await unknownHashes(db, since)) {
    // Payments to the wallet name it too. Each one is stored, so that a failed call does not repeat all of them.
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
