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
      rewrite(wiring, 'payouts.transactions_insert', [
        'from halted_assets where',
        'from halted_assets where false and',
      ]);
    },
  },
  {
    name: 'pause-read-before-planning',
    what: 'whether payouts are paused is read when a round begins, and not once more when it signs',
    shows: /^signed while payouts of \S+ were paused/,
    apply: (wiring) =>
      rewrite(wiring, 'payouts.transactions_insert', [
        'from halted_assets where',
        'from halted_assets where false and',
      ]),
  },
];
