import type { Engine } from '../../engines.ts';
import { sayBarred } from '../say-barred.ts';
import { followFamilies } from './follow-families.ts';
import { payReserved } from './pay-reserved.ts';
import { sweepWorthwhile } from './sweep-worthwhile.ts';
import { unknownHistory } from './unknown-history.ts';

/**
 * Solana: signed bytes are valid for about a minute. What is in no finalized block after that can never be mined, and
 * only when that is proved is the same payment signed once more.
 */
export const solanaEngine: Engine<'solana'> = {
  bar: unknownHistory,

  async run(ports, lease) {
    const isBarred = ports.signingBar.reason !== undefined;
    const followed = await followFamilies(ports, lease, isBarred);
    if (isBarred) {
      sayBarred(ports);
      return followed;
    }
    const paid = await payReserved(ports, lease);
    return followed + paid + (await sweepWorthwhile(ports, lease));
  },

  // Nodes keep signatures for a few days. Nothing later waits for one that is missing.
  mayBeForgotten: async () => true,
};
