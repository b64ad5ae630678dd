import type { HandlersOf } from '@quittance/shared/process-messages';
import { recordDeposits, reverseDeposits } from './operations/record-deposits.ts';
import { noteHalt, noteResume } from './store/halts.ts';

/** What payouts does with events: which deposits can be spent, and for which assets nothing may be signed. */
export const handlers: HandlersOf<'payouts', unknown> = {
  'deposit.settled': recordDeposits,
  'deposit.reversed': reverseDeposits,
  async 'asset.halted'(trx, events) {
    for (const { payload } of events) await noteHalt(trx, payload);
  },
  async 'asset.resumed'(trx, events) {
    for (const { payload } of events) await noteResume(trx, payload);
  },
};
