import type { Chain } from '@quittance/shared/assets';
import type { DerivedKeys, Ports } from '../ports.ts';
import { savedFirstAddress, saveFirstAddress } from '../store/addresses.ts';

/** Matching keys are checked this seldom: the signer itself refuses another recovery phrase from then on. */
const REST_MS = 60_000;

/**
 * Asks the signer for the first address of a chain. If it differs from ours, the signer could not spend what customers pay:
 * no replica gives out an address until it matches. Before the first answer no address is given out either. Without
 * an answer, the last one holds.
 * @returns 0: there is no more work. Throws while the keys are known to differ.
 */
export async function compareKeys(
  { db, bus, clock }: Pick<Ports, 'db' | 'bus' | 'clock'>,
  chain: Chain,
  keys: DerivedKeys,
): Promise<number> {
  const { first, status } = keys;
  const now = clock.now();
  const known = await loadKeyStatus({ db }, chain, keys);
  const isDue = status.nextCheckAt === undefined || now >= status.nextCheckAt || known !== first;
  if (isDue) {
    const asked = await bus.ask('addresses.derive', { chain, from: 0, count: 1, expected: [first] });
    const [named] = asked.known ? asked.reply.addresses : [];
    if (named !== undefined) {
      await saveFirstAddress(db, chain, { first, named });
      status.problem = keyProblemOf(chain, first, named);
    }
    const areSame = named === first || (named === undefined && status.nextCheckAt !== undefined);
    status.nextCheckAt = areSame ? new Date(now.getTime() + REST_MS) : undefined;
  }
  if (status.problem?.isKnown === true) throw new Error(status.problem.reason);
  return 0;
}

/** Loads the last answer of the signer to any replica. @returns the first address by that answer; undefined without one */
export async function loadKeyStatus(
  { db }: Pick<Ports, 'db'>,
  chain: Chain,
  { first, status }: DerivedKeys,
): Promise<string | undefined> {
  const named = await savedFirstAddress(db, chain, first);
  status.problem = keyProblemOf(chain, first, named);
  return named;
}

/** Why no address is given out: the keys differ, or the signer has not answered yet. Undefined when they match. */
function keyProblemOf(
  chain: Chain,
  first: string,
  named: string | undefined,
): DerivedKeys['status']['problem'] {
  if (named === first) return undefined;
  const xpub = `${chain.toUpperCase()}_XPUB`;
  const isKnown = named !== undefined;
  const reason = isKnown
    ? `no address of ${chain} is given out: ${xpub} and the recovery phrase of the signer do not belong together, their first addresses are ${first} and ${named}; give invoices the public key of those words, or the signer the words of that key`
    : `no address of ${chain} is given out yet: the signer has not confirmed that ${xpub} belongs to its recovery phrase; start the signer with this chain configured, it is asked every second`;
  return { isKnown, reason };
}

/** The state before the last answer of the signer is loaded. */
export const unconfirmedKeys = (chain: Chain, first: string): DerivedKeys => ({
  first,
  status: { problem: keyProblemOf(chain, first, undefined), nextCheckAt: undefined },
});
