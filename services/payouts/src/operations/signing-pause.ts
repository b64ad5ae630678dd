import { ConfigError } from '@quittance/shared/config';
import type { ChainPorts, PayoutChain, Ports, SigningPause } from '../ports.ts';
import { otherHotWallet } from '../store/wallets.ts';

/**
 * Why nothing may be signed for this database: it was used with another hot wallet, so the configured one has none of its
 * money. Undefined when there is no mismatch.
 */
export async function walletMismatch(
  { db }: Pick<Ports, 'db'>,
  { chain, sender }: Pick<PayoutChain, 'chain' | 'sender'>,
): Promise<string | undefined> {
  const other = await otherHotWallet(db, chain, sender.hotAddress);
  if (other === undefined) return undefined;
  return `the settings name the hot wallet ${sender.hotAddress}, this database was used with ${other}`;
}

/** Logs why signing is paused on this chain. */
export function reportSigningPaused({
  chain,
  signingPause: { reason },
  throttledLog,
}: Pick<ChainPorts, 'chain' | 'signingPause' | 'throttledLog'>): void {
  throttledLog.log('error', `signing_paused.${chain}`, { chain, reason }, 'nothing is signed');
}

/** At the start: throws ConfigError when this database was used with another hot wallet, on any chain. */
export async function refuseWalletMismatch({ db, chains }: Pick<Ports, 'db' | 'chains'>): Promise<void> {
  const mismatches = await Promise.all([...chains.values()].map((on) => walletMismatch({ db }, on)));
  const problems = mismatches.flatMap((problem) => problem ?? []);
  if (problems.length > 0) throw new ConfigError('payouts', problems);
}

type Pausable = { chain: string; signingPause: SigningPause };

/**
 * The chains where signing is paused, each with its reason. The service goes on `without` one of several, and waits only
 * when signing is paused on all.
 */
export function pausedChains(chains: Iterable<Pausable>): { waitsFor: string[]; without: string[] } {
  const all = [...chains];
  const paused = all.flatMap(({ chain, signingPause: { reason } }) =>
    reason === undefined ? [] : [`the right wallet, network and database of ${chain}: ${reason}`],
  );
  return paused.length < all.length ? { waitsFor: [], without: paused } : { waitsFor: paused, without: [] };
}
