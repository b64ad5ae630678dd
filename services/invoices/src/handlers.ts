import type { HandlersOf } from '@quittance/shared/handlers';
import { creditDeposits } from './operations/credit-deposits.ts';
import type { Ports } from './ports.ts';
import type { Shown } from './views.ts';

/** What invoices does with events. */
export const handlers: HandlersOf<'invoices', Pick<Ports, 'clock'> & Shown> = {
  'credit.recorded': creditDeposits,
};
