import { isDeepStrictEqual } from 'node:util';
import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import { failpoint } from '@quittance/shared/failpoint';
import type { Ports } from '../ports.ts';
import { insertWalletOnce } from '../store/wallets.ts';
import { assertSameSeed, depositAddress, walletOf } from './seed-mismatch.ts';

/**
 * Derives deposit addresses, for a chain whose keys have no public derivation, or to compare them with `expected`.
 * Throws, so that the command gets no reply, when the chain is not configured, or on a seed mismatch, because deposits
 * could not be swept.
 */
export async function deriveAddresses(
  { db, chains }: Pick<Ports, 'db' | 'chains'>,
  { chain, from, count, expected }: RequestOf<'addresses.derive'>,
): Promise<ReplyOf<'addresses.derive'>> {
  const on = chains.get(chain);
  if (on === undefined) throw new Error(`${chain} is not configured`);
  await assertSameSeed(db, on);
  const addresses = Array.from({ length: count }, (_, i) => depositAddress(on, from + i));
  // From the first address on, another seed is a mismatch. When the caller expects other addresses, our seed may be the
  // wrong one, so it is not recorded.
  if (on.kind === 'solana' || isDeepStrictEqual(expected, addresses)) {
    await insertWalletOnce(db, chain, walletOf(on));
  }
  failpoint('signer.addresses_derived');
  return { addresses };
}
