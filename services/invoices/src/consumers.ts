import type { Handlers } from '@quittance/shared/handlers';
import { creditDeposits } from './operations/credit-deposits.ts';
import type { Ports } from './ports.ts';

/** What this service does with the events it takes. */
export const handleEvents = (ports: Pick<Ports, 'clock' | 'quotes' | 'chains' | 'publicUrl'>): Handlers => ({
  'credit.recorded': (trx, credits) => creditDeposits(trx, credits, ports),
});
