import { isDeepStrictEqual } from 'node:util';
import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import { crashPoint } from '@quittance/shared/crash';
import type { Ports } from '../ports.ts';
import { insertKnownHotWalletOnce, insertWalletOnce } from '../store/wallets.ts';
import { strangeWallet } from './signing-pause.ts';

/**
 * Names deposit addresses: of a chain whose keys have no public derivation, or to whoever derives them and wants to know
 * whether they are ours. A throw is no answer: a chain that is not configured, and words that are not those of this
 * database, whose addresses the treasury could not sweep for it.
 */
export async function deriveAddresses(
  { db, chains }: Pick<Ports, 'db' | 'chains'>,
  { chain, from, count, expected }: RequestOf<'addresses.derive'>,
): Promise<ReplyOf<'addresses.derive'>> {
  const on = chains.get(chain);
  if (on === undefined) throw new Error(`${chain} is not configured`);
  const { sender } = on;
  const strange = await strangeWallet({ db, chain, sender });
  if (strange !== undefined) throw new Error(strange);
  const addresses = Array.from({ length: count }, (_, i) => sender.depositAddress(from + i));
  // From the first address on, other words are strange here: customers pay to it. Where another address is given out than
  // ours, the words may be the ones that are wrong.
  if (on.kind === 'solana') {
    await db.transaction((trx) => insertWalletOnce(trx, chain, sender.hotAddress, 'hot', null));
  } else if (isDeepStrictEqual(expected, addresses)) {
    await insertKnownHotWalletOnce(db, chain, sender.hotAddress);
  }
  crashPoint('payouts.addresses_named');
  return { addresses };
}
