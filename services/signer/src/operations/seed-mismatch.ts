import { ConfigError } from '@quittance/shared/config';
import type { Queryable } from '@quittance/shared/db';
import type { Ports, SignerChain } from '../ports.ts';
import { otherHotWallet } from '../store/wallets.ts';

/**
 * Why this wallet must not sign for this database: the database was used with another seed, so this one has another hot
 * wallet and none of the keys of the deposits. Undefined when there is no mismatch.
 */
async function seedMismatch(
  db: Queryable,
  { chain, signer }: Pick<SignerChain, 'chain' | 'signer'>,
): Promise<string | undefined> {
  const { hotAddress } = signer.addresses;
  const other = await otherHotWallet(db, chain, hotAddress);
  if (other === undefined) return undefined;
  return `the recovery phrase belongs to the hot wallet ${hotAddress}, this database was used with ${other}`;
}

/** Throws when this database was used with another seed on this chain: another replica may have been the first. */
export async function assertSameSeed(
  db: Queryable,
  on: Pick<SignerChain, 'chain' | 'signer'>,
): Promise<void> {
  const mismatch = await seedMismatch(db, on);
  if (mismatch !== undefined) throw new Error(mismatch);
}

/** At the start: throws ConfigError when this database was used with another seed, on any chain. */
export async function refuseSeedMismatch({ db, chains }: Pick<Ports, 'db' | 'chains'>): Promise<void> {
  const mismatches = await Promise.all([...chains.values()].map((on) => seedMismatch(db, on)));
  const problems = mismatches.flatMap((problem) => problem ?? []);
  if (problems.length > 0) throw new ConfigError('signer', problems);
}
