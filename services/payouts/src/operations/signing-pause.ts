import { ConfigError } from '@quittance/shared/config';
import type { ChainPorts, Ports } from '../ports.ts';
import { otherHotWallet } from '../store/wallets.ts';

/**
 * Why this wallet must not sign for this database, or undefined when it may: other words than those it was first
 * used with have another hot wallet, and none of the keys of the deposits made since.
 */
export async function strangeWallet({
  db,
  chain,
  sender,
}: Pick<ChainPorts, 'db' | 'chain' | 'sender'>): Promise<string | undefined> {
  const other = await otherHotWallet(db, chain, sender.hotAddress);
  if (other === undefined) return undefined;
  return `WALLET_SEED belongs to the hot wallet ${sender.hotAddress}, this database was used with ${other}`;
}

/** An operator must look: nothing is signed on this chain until then. */
export function sayBarred({
  chain,
  signingBar,
  notices,
}: Pick<ChainPorts, 'chain' | 'signingBar' | 'notices'>): void {
  notices.say('error', `signing_bar.${chain}`, { chain, reason: signingBar.reason }, 'nothing is signed');
}

/** At the start: throws ConfigError when the words are not those that this database was used with, on any chain. */
export async function refuseStrangeWallets({ db, chains }: Pick<Ports, 'db' | 'chains'>): Promise<void> {
  const strange = await Promise.all(
    [...chains.values()].map(({ chain, sender }) => strangeWallet({ db, chain, sender })),
  );
  const problems = strange.flatMap((problem) => problem ?? []);
  if (problems.length > 0) throw new ConfigError('payouts', problems);
}

type Barrable = { chain: string; signingBar: { reason: string | undefined } };

/**
 * The chains that nothing may be signed for, each with its reason. One of several keeps nobody from being served on the
 * others: then the service goes `without` it, and only when none is left does it wait.
 */
export function barredChains(chains: Iterable<Barrable>): { waitsFor: string[]; without: string[] } {
  const all = [...chains];
  const barred = all.flatMap(({ chain, signingBar: { reason } }) =>
    reason === undefined ? [] : [`the right wallet, network and database of ${chain}: ${reason}`],
  );
  return barred.length < all.length ? { waitsFor: [], without: barred } : { waitsFor: barred, without: [] };
}
