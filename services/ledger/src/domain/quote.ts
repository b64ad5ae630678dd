import type { AssetSymbol } from '@quittance/shared/assets';
import type { ForeignCurrency } from '@quittance/shared/currencies';
import { medianRate, type Rate, spreadBasisPoints } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';

/** What has a rate in US dollars. */
export type Rated = AssetSymbol | ForeignCurrency;

/** What one source says an asset or a currency costs, and when it said so. */
export type Reading = { source: string; symbol: Rated; rate: Rate; readAt: Date };

/** A rate that its sources agree on. */
export type AgreedRate<S extends Rated = Rated> = {
  symbol: S;
  rate: Rate;
  spreadBasisPoints: bigint;
  sources: { name: string; rate: Rate; readAt: Date }[];
  /** When the oldest of its readings was made: the rate is at least as old. */
  asOf: Date;
};

/** A reading older than this says nothing about now. */
const READING_AGE_MAX_MS = 120_000;
/** A source whose clock is ahead is not trusted with its age either. */
const READING_AHEAD_MAX_MS = 30_000;
/** Sources further apart than this, of the lowest, are not talking of the same market. */
const SPREAD_MAX_BASIS_POINTS = 200n;

export type RateRefusal = 'too_few_sources' | 'too_far_apart';

/** The median of what fresh sources say, unless they are too few or do not agree. */
export function agreeOnRate<S extends Rated>(
  symbol: S,
  readings: readonly Reading[],
  now: Date,
  sourcesMin: number,
): Result<AgreedRate<S>, RateRefusal> {
  const fresh = readings.filter((reading) => reading.symbol === symbol && isFresh(reading, now));
  if (new Set(fresh.map((reading) => reading.source)).size < sourcesMin) return refuse('too_few_sources');
  const rates = fresh.map((reading) => reading.rate);
  const spread = spreadBasisPoints(rates);
  if (spread > SPREAD_MAX_BASIS_POINTS) return refuse('too_far_apart');
  return ok({
    symbol,
    rate: medianRate(rates),
    spreadBasisPoints: spread,
    sources: fresh.map(({ source, rate, readAt }) => ({ name: source, rate, readAt })),
    asOf: new Date(Math.min(now.getTime(), ...fresh.map((reading) => reading.readAt.getTime()))),
  });
}

function isFresh({ readAt }: Reading, now: Date): boolean {
  const age = now.getTime() - readAt.getTime();
  return age <= READING_AGE_MAX_MS && age >= -READING_AHEAD_MAX_MS;
}
