import { assets, type ChainKind, chainKinds } from '@quittance/shared/assets';
import { formatUnits, units } from '@quittance/shared/money';
import { type AttemptStatus, attemptStatusesOf } from '../domain/attempts.ts';
import type { Ports } from '../ports.ts';
import { attemptRows, type SignedAttemptRow } from '../store/attempts.ts';
import type { Payout } from '../store/payouts.ts';
import { readEvmTerms } from './account-chain/evm-driver.ts';
import { readBitcoinTerms } from './bitcoin/terms.ts';

/** On Solana, where each expired attempt is followed by another, there is no limit of its own. */
const ATTEMPTS_MAX = 100;
const GWEI_DECIMALS = 9;
/** Satoshi per virtual byte are given in thousandths. */
const RATE_DECIMALS = 3;

export const feeRateUnits = ['sat/vB', 'gwei'] as const;
type FeeRate = { value: string; unit: (typeof feeRateUnits)[number] };

/** A transaction that was signed for a payout, and what became of it. */
export type SignedAttempt = Omit<SignedAttemptRow, 'terms' | 'state' | 'blockHash'> & {
  status: AttemptStatus;
  /** What it offers for a unit of space or of work; null where that is not stored. */
  feeRate: FeeRate | null;
};

/** The transactions of a payout, the newest last. Before it is signed there is none. */
export async function readAttempts(
  { db }: Pick<Ports, 'db'>,
  { id, asset }: Pick<Payout, 'id' | 'asset'>,
): Promise<SignedAttempt[]> {
  const rows = await attemptRows(db, id, ATTEMPTS_MAX);
  const statuses = attemptStatusesOf(rows);
  return rows.map(({ terms, state: _, blockHash, blockHeight, ...row }, place) => {
    const status = statuses[place] ?? 'signed';
    const isInBlock = blockHash !== null && status !== 'replaced' && status !== 'dropped';
    return {
      ...row,
      status,
      blockHeight: isInBlock ? blockHeight : null,
      feeRate: feeRate(chainKinds[assets[asset].chain], terms),
    };
  });
}

function feeRate(kind: ChainKind, terms: unknown): FeeRate | null {
  if (terms === null) return null;
  switch (kind) {
    case 'bitcoin': {
      const { fee, virtualBytes } = readBitcoinTerms(terms);
      const thousandths = (fee * 10n ** BigInt(RATE_DECIMALS)) / BigInt(virtualBytes);
      return { value: formatUnits(units(thousandths), RATE_DECIMALS), unit: 'sat/vB' };
    }
    case 'evm': {
      const fees = readEvmTerms(terms)?.fees;
      return fees === undefined
        ? null
        : { value: formatUnits(units(fees.maxFeePerGas), GWEI_DECIMALS), unit: 'gwei' };
    }
    case 'solana':
      return null;
  }
}
