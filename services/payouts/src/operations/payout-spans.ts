import type { Chain } from '@quittance/shared/assets';
import type { PayoutId } from '@quittance/shared/ids';
import type { Span } from '@quittance/shared/traces';

type Step = Pick<Span, 'start' | 'end' | 'error'> & {
  kind?: Span['kind'];
  chain: Chain;
  /** The block that ended it. */
  height?: number;
};

/** A span in the trace of each of these payouts, which one transaction pays. */
export const payoutSpans = (
  name: string,
  payouts: readonly PayoutId[],
  { kind = 'internal', chain, height, ...step }: Step,
): Span[] =>
  payouts.map((id) => ({
    of: { is: 'payout', id },
    name,
    kind,
    ...step,
    attributes: {
      'quittance.chain': chain,
      ...(height === undefined ? {} : { 'quittance.block.height': height }),
    },
  }));
