import { ConfigError } from '@quittance/shared/config';
import type { Queryable } from '@quittance/shared/db';
import type { Ports, SignerChain } from '../ports.ts';
import { type KnownWallet, knownWallet } from '../store/wallets.ts';

type Wallet = Pick<SignerChain, 'chain' | 'kind' | 'signer' | 'hotKeyIn'>;

/** What identifies this wallet: its hot wallet, and where the key of that is in a KMS the first deposit address too. */
export const walletOf = (on: Wallet): KnownWallet => ({
  hotAddress: on.signer.addresses.hotAddress,
  firstDeposit: on.hotKeyIn === 'kms' ? depositAddress(on, 0) : null,
});

/** A deposit address. */
export const depositAddress = ({ signer: { addresses } }: Pick<Wallet, 'signer'>, index: number): string =>
  'address' in addresses ? addresses.address('deposit', index) : addresses.depositAddress(index);

/**
 * Why this wallet must not sign for this database: the database was used with another seed, so this one has another hot
 * wallet and none of the keys of the deposits. Undefined when there is no mismatch.
 */
async function seedMismatch(db: Queryable, on: Wallet): Promise<string | undefined> {
  const known = await knownWallet(db, on.chain);
  if (known === undefined) return undefined;
  const { hotAddress, firstDeposit } = walletOf(on);
  const key = on.hotKeyIn === 'kms' ? 'key in the KMS' : 'recovery phrase';
  if (known.hotAddress !== hotAddress)
    return `the ${key} belongs to the hot wallet ${hotAddress}, this database was used with ${known.hotAddress}`;
  if (firstDeposit !== null && known.firstDeposit !== null && known.firstDeposit !== firstDeposit)
    return `the recovery phrase belongs to the deposit address ${firstDeposit}, this database was used with ${known.firstDeposit}`;
  return undefined;
}

/** Throws when this database was used with another seed on this chain: another replica may have been the first. */
export async function assertSameSeed(db: Queryable, on: Wallet): Promise<void> {
  const mismatch = await seedMismatch(db, on);
  if (mismatch !== undefined) throw new Error(mismatch);
}

/** At the start: throws ConfigError when this database was used with another seed, on any chain. */
export async function refuseSeedMismatch({ db, chains }: Pick<Ports, 'db' | 'chains'>): Promise<void> {
  const mismatches = await Promise.all([...chains.values()].map((on) => seedMismatch(db, on)));
  const problems = mismatches.flatMap((problem) => problem ?? []);
  if (problems.length > 0) throw new ConfigError('signer', problems);
}
