import { afterAll, beforeAll } from '@jest/globals';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { ethereumCases } from './shop/ethereum.ts';
import { eventCases } from './shop/events.ts';
import { invoiceThatNobodyPays } from './shop/expiry.ts';
import { mistakeCases } from './shop/mistakes.ts';
import { CONFIRMATIONS } from './shop/on-stack.ts';
import { operatorCases } from './shop/operator.ts';
import { thousandsOfPayouts } from './shop/thousands-of-payouts.ts';
import { webhookCases } from './shop/webhooks.ts';

/** Cases that share one stack, with a node that makes a block only when it is told to: starting one takes as long as most of them. */

let quittance: Quittance;
const stack = () => quittance;

beforeAll(async () => {
  quittance = await startQuittance({
    auditor: true,
    // The others are stopped, killed or paused.
    together: ['invoices', 'payouts', 'auditor'],
    confirmations: CONFIRMATIONS,
    chains: [],
    fixedFees: true,
  });
});
afterAll(() => quittance?.stop());

const unpaid = invoiceThatNobodyPays(stack);
unpaid.isMade();
webhookCases(stack);
eventCases(stack);
mistakeCases(stack);
ethereumCases(stack);
operatorCases(stack);
unpaid.hasExpired();
// Last: its thousand payouts are signed for a long time.
thousandsOfPayouts(stack);
