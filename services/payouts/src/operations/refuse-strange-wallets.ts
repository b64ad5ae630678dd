import { ConfigError } from '@quittance/shared/config';
import type { Ports } from '../ports.ts';
import { strangeWallet } from './strange-wallet.ts';

/** At the start: throws ConfigError when the words are not those that this database was used with, on any chain. */
export async function refuseStrangeWallets({ db, chains }: Pick<Ports, 'db' | 'chains'>): Promise<void> {
  const strange = await Promise.all(
    [...chains.values()].map(({ chain, sender }) => strangeWallet({ db, chain, sender })),
  );
  const problems = strange.flatMap((problem) => problem ?? []);
  if (problems.length > 0) throw new ConfigError('payouts', problems);
}
