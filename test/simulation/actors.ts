import { runCustomer } from './customer.ts';
import type { Environment } from './environment.ts';
import type { Asked } from './merchant.ts';
import { runChoosing } from './payer-client.ts';

const flows = ['in', 'in', 'in', 'in', 'out', 'out', 'out', 'out', 'out', 'both'] as const;
type Flow = (typeof flows)[number];
const CUSTOMERS = [1, 1, 1, 2] as const;
const CLIENTS = [1, 1, 1, 2] as const;
/** Of whom some decide about funds that came too late, and others set up automatic payouts. */
const LATE_FUNDS_CLIENTS = [1, 2, 2, 2] as const;
const CHOOSING_PERCENT = 80;

/** How many pay in and out. Most scenarios are small: what goes wrong between many shows between two, and is read in a minute. */
export function drawActors({ chance, hasExtras, hasChoices, hasLateFunds }: Environment): {
  flow: Flow;
  customers: number;
  clients: number;
} {
  const drawn = chance.oneOf(flows);
  let flow: Flow = (hasExtras || hasLateFunds) && drawn === 'in' ? 'out' : drawn;
  if (hasChoices) flow = drawn === 'in' ? 'in' : 'both';
  const customers = flow === 'out' ? 0 : chance.oneOf(CUSTOMERS);
  const clients = flow === 'in' ? 0 : chance.oneOf(hasLateFunds ? LATE_FUNDS_CLIENTS : CLIENTS);
  return { flow, customers, clients };
}

/** A customer of an invoice; in some seeds of one whose asset he chooses, or some customers of a link. */
export async function runPayer(environment: Environment, { sales }: Asked): Promise<void> {
  const { hasChoices, chance } = environment;
  if (hasChoices && chance.percent(CHOOSING_PERCENT)) await runChoosing(environment, sales);
  else await runCustomer(environment);
}
