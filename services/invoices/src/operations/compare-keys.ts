import type { Chain } from '@quittance/shared/assets';
import type { DerivedKeys, Ports } from '../ports.ts';

/** Keys that were the same are asked about so seldom: payouts itself refuses other words from then on. */
const REST_MS = 60_000;

/**
 * Asks the key holder for the first address of a chain. When it names another one than our public key derives, what
 * customers paid to ours could not be spent: from then on no address is given out, until it names the same. Without an
 * answer nothing is known, and nothing changes.
 * @returns 0: there is nothing to go on with at once. Throws while the keys are known to differ.
 */
export async function compareKeys(
  { bus, clock }: Pick<Ports, 'bus' | 'clock'>,
  chain: Chain,
  { first, heard }: DerivedKeys,
): Promise<number> {
  const now = clock.now();
  if (heard.restUntil !== undefined && now < heard.restUntil) return 0;
  const asked = await bus.ask('addresses.derive', { chain, from: 0, count: 1, expected: [first] });
  const [named] = asked.known ? asked.reply.addresses : [];
  if (named !== undefined) heard.bar = named === first ? undefined : whyBarred(chain, first, named);
  const areSame = named === first || (named === undefined && heard.restUntil !== undefined);
  heard.restUntil = areSame ? new Date(now.getTime() + REST_MS) : undefined;
  if (heard.bar !== undefined) throw new Error(heard.bar);
  return 0;
}

const whyBarred = (chain: Chain, first: string, named: string): string =>
  `no address of ${chain} is given out: ${chain.toUpperCase()}_XPUB and the WALLET_SEED of payouts do not belong together, their first addresses are ${first} and ${named}; give invoices the public key of those words, or payouts the words of that key`;
