import { type Batch, repeatBatches, runBatchClient } from './batch-client.ts';
import type { Environment } from './environment.ts';
import type { Pause } from './operator.ts';
import type { Sale } from './payer-client.ts';
import { type Order, type PayoutListeners, repeatRequests, runClient } from './payout-client.ts';
import { type Refund, runRefundClient } from './refund-client.ts';
import { type Rule, runRuleClient } from './rule-client.ts';
import { type Acceptance, type Return, runUnresolvedClient } from './unresolved-client.ts';

/** All that merchants, payers and an operator have asked for. The lines of batches are among the orders. */
export type Asked = {
  orders: Order[];
  batches: Batch[];
  refunds: Refund[];
  sales: Sale[];
  pauses: Pause[];
  returns: Return[];
  acceptances: Acceptance[];
  rules: Rule[];
};

export const nothingAsked = (): Asked => ({
  orders: [],
  batches: [],
  refunds: [],
  sales: [],
  pauses: [],
  returns: [],
  acceptances: [],
  rules: [],
});

/** Of the merchants in a seed with extras. */
const BATCHES_PERCENT = 35;
const REFUNDS_PERCENT = 35;
/** Of those in a seed with funds that came too late. */
const LATE_FUNDS_PERCENT = 90;

/**
 * A merchant who pays somebody, several at once in a batch, or an invoice back; or who decides about funds that came too
 * late, or sets up automatic payouts.
 */
export async function runMerchant(
  environment: Environment,
  asked: Asked,
  newRecipient: () => string,
  listeners: PayoutListeners & { onRule: () => void },
): Promise<void> {
  if (environment.hasLateFunds && environment.chance.percent(LATE_FUNDS_PERCENT)) {
    const steps = { ...asked, newRecipient, listeners, onRule: listeners.onRule };
    // Postgres does not say in which order it claims two rules that are due at one moment, so there is one.
    const decides = asked.rules.length > 0 || environment.chance.percent(60);
    return decides ? await runUnresolvedClient(environment, steps) : await runRuleClient(environment, steps);
  }
  const roll = environment.hasExtras ? environment.chance.below(100) : 100;
  if (roll < BATCHES_PERCENT) await runBatchClient(environment, asked, newRecipient, listeners);
  else if (roll < BATCHES_PERCENT + REFUNDS_PERCENT)
    await runRefundClient(environment, { refunds: asked.refunds, newRecipient, listeners });
  else await runClient(environment, asked.orders, newRecipient, listeners);
}

/** Repeats the requests of merchants when all is decided. @returns what is answered otherwise than at first. */
export async function repeatAll(environment: Environment, { orders, batches }: Asked): Promise<string[]> {
  const found = await repeatRequests(environment, orders);
  return [...found, ...(await repeatBatches(environment, batches))];
}
