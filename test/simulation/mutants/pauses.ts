import type { Mutant } from '../mutant.ts';
import { rewrite } from './statements.ts';

/** How the payouts of an asset are paused. */
export const pauseMutants: readonly Mutant[] = [
  {
    name: 'signed-while-paused',
    what: 'the chain worker signs for an asset whose payouts are paused',
    shows: /^signed while payouts of \S+ were paused/,
    apply(wiring) {
      rewrite(wiring, 'payouts.halted_assets', ['where resumed_at', 'where false and resumed_at']);
    },
  },
];
