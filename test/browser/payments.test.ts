import { afterAll, beforeAll, describe } from '@jest/globals';
import { inBrowser } from '@quittance/browser/in-browser';
import { services } from '@quittance/shared/events';
import { STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { documentCases } from './documents.ts';
import { CONFIRMATIONS } from './on-stack.ts';
import { browserWalletCases } from './payments/browser-wallet.ts';
import { livePageCases } from './payments/live-page.ts';
import { pageScriptCases } from './payments/page-scripts.ts';
import { paymentPageCases } from './payments/payment-page.ts';
import { saleCases } from './payments/sale.ts';
import { visitCases } from './payments/visits.ts';

/** What customers see and do, and the documents: cases that share one stack, with a node of each kind of chain, and one Chromium. */

await inBrowser('in a browser', (open) => {
  describe('on a stack', () => {
    let quittance: Quittance;
    const stack = () => quittance;
    beforeAll(async () => {
      quittance = await startQuittance({ together: services, confirmations: CONFIRMATIONS, quiet: true });
    }, STACK_STARTED_WITHIN_MS);
    afterAll(() => quittance?.stop());

    describe('a sale', () => saleCases(stack, open));
    describe('the payment page', () => paymentPageCases(stack, open));
    describe('the scripts of the payment page', () => livePageCases(stack, open));
    describe('payment pages', () => browserWalletCases(stack, open));
    describe('the documents', () => documentCases(stack, open));
  });

  // Without a stack: each is its own server.
  describe('the script of a page', () => pageScriptCases(open));
  describe('a visit', () => visitCases(open));
});
