import { isDeepStrictEqual } from 'node:util';
import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import { failpoint } from '@quittance/shared/failpoint';
import type { Ports } from '../ports.ts';
import { insertKnownHotWalletOnce, insertWalletOnce } from '../store/wallets.ts';
import { seedMismatch } from './signing-pause.ts';

/**
 * Derives deposit addresses, for a chain whose keys have no public derivation or to compare them with `expected`. Throws,
 * which is no answer, when the chain is not configured or the seed is not that of this database: deposits there could
 * not be swept.
 */
export async function deriveAddresses(
  { db, chains }: Pick<Ports, 'db' | 'chains'>,
  { chain, from, count, expected }: RequestOf<'addresses.derive'>,
): Promise<ReplyOf<'addresses.derive'>> {
  const on = chains.get(chain);
  if (on === undefined) throw new Error(`${chain} is not configured`);
  const { sender } = on;
  const mismatch = await seedMismatch({ db, chain, sender });
  if (mismatch !== undefined) throw new Error(mismatch);
  const addresses = Array.from({ length: count }, (_, i) => sender.depositAddress(from + i));
  // From the first address on, customers pay to it and another seed is a mismatch. Where the caller expects another address
  // than ours, our seed may be the wrong one: it is not recorded.
  if (on.kind === 'solana') {
    await db.transaction((trx) => insertWalletOnce(trx, chain, sender.hotAddress, 'hot', null));
  } else if (isDeepStrictEqual(expected, addresses)) {
    await insertKnownHotWalletOnce(db, chain, sender.hotAddress);
  }
  failpoint('payouts.addresses_derived');
  return { addresses };
}
