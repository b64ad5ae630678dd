import { type Chain, chains } from '@quittance/shared/assets';
import type { Ports } from '../ports.ts';
import { type Stalled, stalledPayouts } from '../store/payouts.ts';

/** Finds payouts without progress, keeps them in the port `stalled` for `/readyz`, and logs when that begins and ends. */
export async function watchStalled({ db, logger, stalled: known }: Ports): Promise<void> {
  const found = await stalledPayouts(db);
  for (const chain of chains) {
    const stalled = found.get(chain);
    const before = known.get(chain);
    if (stalled === undefined) {
      if (before !== undefined) logger.info({ chain }, 'payouts make progress again');
      known.delete(chain);
      continue;
    }
    if (before === undefined) {
      const details = { chain, payouts: stalled.payouts, oldest: stalled.oldest.toISOString() };
      logger.error(details, 'payouts make no progress: `quittance payout stalled` lists them');
    }
    known.set(chain, stalled);
  }
}

/** As `/readyz` names them. */
export const stalledNames = (known: ReadonlyMap<Chain, Stalled>): string[] =>
  [...known].map(
    ([chain, { payouts, oldest }]) =>
      `progress of ${payouts} payouts on ${chain}, the oldest of ${oldest.toISOString()}: \`quittance payout stalled\` lists them`,
  );
