import type { Handlers } from '@quittance/shared/handlers';
import { recordDeposits, reverseDeposits } from './operations/record-deposits.ts';
import { noteHalt, noteResume } from './store/halts.ts';

/** What is learnt from the others: which deposits are there to be used, and which assets wait for an operator. */
export const handlers: Handlers = {
  'deposit.settled': (trx, events) =>
    recordDeposits(
      trx,
      events.map((event) => event.payload),
    ),
  'deposit.reversed': (trx, events) =>
    reverseDeposits(
      trx,
      events.map((event) => event.payload),
    ),
  'asset.halted': async (trx, events) => {
    for (const { payload } of events) await noteHalt(trx, payload);
  },
  'asset.resumed': async (trx, events) => {
    for (const { payload } of events) await noteResume(trx, payload);
  },
};
