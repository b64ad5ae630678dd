import type { ReconciledChain } from '@quittance/reconciliation/chain-records';
import type { ChainComparison } from '@quittance/reconciliation/compare-with-chain';
import { type AddressScope, addressNamed } from '@quittance/reconciliation/given-addresses';
import type { CheckedChain } from '@quittance/reconciliation/verify-books';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import { formatUnits } from '@quittance/shared/money';
import {
  ADDRESSES_AT_ONCE,
  isLookDue,
  LOOK_AGAIN_AFTER_MS,
  nextTurn,
  tomorrow,
} from '../domain/address-turn.ts';
import { type FoundFunds, foundFunds } from '../domain/operator-funds.ts';
import type { ChainMemory, Ports } from '../ports.ts';
import { lastAddress, noteLastAddress } from '../store/address-rounds.ts';
import { noteFunds } from '../store/operator-funds.ts';
import { noteSweepRemains } from '../store/sweep-remains.ts';

/**
 * Which addresses a comparison looks at. A Bitcoin node reads all at once, so that is done once a day. Elsewhere some are
 * looked at each time.
 */
export async function planLook(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  { settings: { chain, kind } }: ReconciledChain,
  { addressesAt }: ChainMemory,
): Promise<AddressScope | undefined> {
  if (kind === 'bitcoin') return isLookDue(addressesAt, clock.now()) ? 'all' : undefined;
  return { after: await lastAddress(db, chain), limit: ADDRESSES_AT_ONCE };
}

type Measuring = { chain: ReconciledChain; memory: ChainMemory; compared: CheckedChain };

/** Stores how far the addresses were looked at, what sweeps have left, and what has come to the operator's funds. */
export async function noteMeasured(
  trx: Trx,
  { chain: { settings }, memory, compared }: Measuring,
  now: Date,
): Promise<FoundFunds[]> {
  const { addresses, discrepancies } = compared;
  if (settings.kind !== 'bitcoin' && addresses !== undefined && addresses.failed === undefined)
    await noteLastAddress(trx, settings.chain, nextTurn(addresses.inTurn));
  await noteSweepRemains(trx, memory.balances.leftLately);
  // What is missing would be taken for a smaller amount of the operator's.
  const wrong = new Set(discrepancies.flatMap((one) => (one.pausesPayouts ? (one.asset ?? []) : [])));
  const found = foundFunds(memory.measured, memory.balances.backing).filter(({ asset }) => !wrong.has(asset));
  for (const { asset, amount, cause } of found) await noteFunds(trx, { asset, amount, cause, notedAt: now });
  return found;
}

/** Those known discrepancies that are of addresses which a comparison did not look at. */
export function unlookedOf(
  suspects: readonly string[],
  lookedAt: readonly string[] = [],
): ReadonlySet<string> {
  const looked = new Set(lookedAt);
  return new Set(
    suspects.filter((subject) => {
      const address = addressNamed(subject);
      return address !== undefined && !looked.has(address);
    }),
  );
}

/** Remembers a comparison for the next one, and logs what it has measured. */
export function rememberMeasured(
  { logger, clock }: Pick<Ports, 'logger' | 'clock'>,
  { memory, chain: { settings }, compared }: Measuring,
  found: readonly FoundFunds[],
  suspects: readonly string[],
): void {
  memory.measured = memory.balances.backing;
  const now = clock.now();
  if (settings.kind === 'bitcoin' && compared.addresses !== undefined)
    memory.addressesAt = nextLook(compared, suspects, now);
  if (compared.addresses?.failed !== undefined)
    logger.warn(
      { chain: settings.chain, reason: compared.addresses.failed },
      'the addresses that were given out could not be looked at',
    );
  for (const { asset, amount, cause } of found) {
    const details = { asset, amount: shown(asset, amount) };
    if (cause === 'arrived')
      logger.warn(
        details,
        'money has come to the hot wallet that is not booked: it counts as the operator’s',
      );
    else logger.info(details, 'the operator’s funds were measured: less of them will halt payouts');
  }
}

/** What is found for the first time is looked at once more at once. */
function nextLook(
  {
    addresses,
    discrepancies,
  }: { addresses: ChainComparison['addresses'] } & Pick<CheckedChain, 'discrepancies'>,
  suspects: readonly string[],
  now: Date,
): Date {
  if (addresses?.failed !== undefined) return new Date(now.getTime() + LOOK_AGAIN_AFTER_MS);
  const isNew = discrepancies.some((one) => !one.pausesPayouts && !suspects.includes(one.subject));
  return isNew ? now : tomorrow(now);
}

const shown = (asset: AssetSymbol, amount: FoundFunds['amount']): string =>
  formatUnits(amount, assets[asset].decimals);
