import type { CheckScope, ReconciledChain } from '@quittance/reconciliation/chain-records';
import type { ChainComparison } from '@quittance/reconciliation/compare-with-chain';
import type { AddressScope } from '@quittance/reconciliation/given-addresses';
import type { Trx } from '@quittance/shared/db';
import { afterTurn, isLookDue, nextAddresses } from '../domain/address-turn.ts';
import { type FoundFunds, foundFunds } from '../domain/operator-funds.ts';
import type { ChainMemory, Ports } from '../ports.ts';
import { type AddressRound, addressRound, noteRemains, noteRound } from '../store/address-rounds.ts';
import { noteFunds } from '../store/operator-funds.ts';

/** Which addresses a comparison looks at, and since when it asks for swept ones. */
export type Look = {
  addresses: AddressScope | undefined;
  scope: Pick<CheckScope, 'sweptSince'>;
  round: AddressRound | undefined;
};

/** A Bitcoin node reads all addresses at once, so that is done once a day. Elsewhere some are looked at each time. */
export async function planLook(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  { settings: { chain, kind } }: ReconciledChain,
  { addressesAt }: ChainMemory,
): Promise<Look> {
  if (kind === 'bitcoin') {
    const addresses = isLookDue(addressesAt, clock.now()) ? 'all' : undefined;
    return { addresses, scope: {}, round: undefined };
  }
  const round = await addressRound(db, chain);
  return {
    addresses: nextAddresses(round.after, round.count),
    scope: { sweptSince: round.endedRoundBeganAt ?? undefined },
    round,
  };
}

/** Stores what a comparison has found at addresses, and how far the round has come. */
export async function noteLook(
  trx: Trx,
  { settings: { chain } }: ReconciledChain,
  { addresses: asked, round }: Look,
  addresses: ChainComparison['addresses'],
  now: Date,
): Promise<void> {
  if (addresses === undefined || round === undefined || asked === undefined || asked === 'all') return;
  await noteRemains(trx, chain, addresses.lookedAt, addresses.remains);
  await noteRound(trx, chain, afterTurn(round, addresses.inTurn, asked.limit, now));
}

/**
 * Notes what has come to the operator's funds. Not while anything is wrong with the chain: what is missing or not booked would
 * be taken for the operator's.
 */
export async function noteFoundFunds(
  trx: Trx,
  { measured, balances }: Pick<ChainMemory, 'measured' | 'balances'>,
  isWrong: boolean,
  now: Date,
): Promise<FoundFunds[]> {
  const found = isWrong ? [] : foundFunds(measured, balances.backing);
  for (const { asset, amount, cause } of found) await noteFunds(trx, { asset, amount, cause, notedAt: now });
  return found;
}
