import { type Batch, repeatBatches, runBatchClient } from './batch-client.ts';
import type { Environment } from './environment.ts';
import type { Pause } from './operator.ts';
import type { Sale } from './payer-client.ts';
import { type Order, type PayoutListeners, repeatRequests, runClient } from './payout-client.ts';
import { type Refund, runRefundClient } from './refund-client.ts';

/** All that merchants, payers and an operator have asked for. The lines of batches are among the orders. */
export type Asked = { orders: Order[]; batches: Batch[]; refunds: Refund[]; sales: Sale[]; pauses: Pause[] };

export const nothingAsked = (): Asked => ({
  orders: [],
  batches: [],
  refunds: [],
  sales: [],
  pauses: [],
});

/** Of the merchants in a seed with extras. */
const BATCHES_PERCENT = 35;
const REFUNDS_PERCENT = 35;

/** A merchant who pays somebody, several at once in a batch, or an invoice back. */
export async function runMerchant(
  environment: Environment,
  asked: Asked,
  newRecipient: () => string,
  listeners: PayoutListeners,
): Promise<void> {
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
