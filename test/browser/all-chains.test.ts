import { afterAll, beforeAll, describe } from '@jest/globals';
import { inBrowser } from '@quittance/browser/in-browser';
import { services } from '@quittance/shared/events';
import { STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { CONFIRMATIONS } from './on-stack.ts';
import { pageScriptCases } from './payments/page-scripts.ts';
import { paymentPageCases } from './payments/payment-page.ts';
import { saleCases } from './payments/sale.ts';
import { visitCases } from './payments/visits.ts';

/** What customers see and do: cases that share one Chromium, and one stack with a node of each kind of chain. */

await inBrowser('in a browser', (open) => {
  describe('with all chains', () => {
    let quittance: Quittance;
    const stack = () => quittance;
    beforeAll(async () => {
      quittance = await startQuittance({ together: services, confirmations: CONFIRMATIONS, quiet: true });
    }, STACK_STARTED_WITHIN_MS);
    afterAll(() => quittance?.stop());

    describe('a sale', () => saleCases(stack, open));
    describe('the payment page', () => paymentPageCases(stack, open));
  });

  // Without a stack: each is its own server.
  describe('the script of a page', () => pageScriptCases(open));
  describe('a visit', () => visitCases(open));
});
