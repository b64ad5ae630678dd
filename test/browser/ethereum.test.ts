import { afterAll, beforeAll, describe } from '@jest/globals';
import { inBrowser } from '@quittance/browser/in-browser';
import { freePort } from '@quittance/engines/free-port';
import { serveTestMoneyOf, testMoneyUrl } from '@quittance/sandbox/test-money';
import { services } from '@quittance/shared/events';
import type { Listening } from '@quittance/shared/http-server';
import { STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { developerCases } from './dashboard/developers.ts';
import { moneyInCases } from './dashboard/invoices.ts';
import { notificationCases } from './dashboard/notifications.ts';
import { operatorCases } from './dashboard/operators.ts';
import { moneyOutCases } from './dashboard/payouts.ts';
import { peopleCases } from './dashboard/people.ts';
import { sandboxCases } from './dashboard/sandbox.ts';
import { shopCases } from './dashboard/shop.ts';
import { documentCases } from './documents.ts';
import { CONFIRMATIONS, OUT_OF_THE_WAY } from './on-stack.ts';
import { browserWalletCases } from './payments/browser-wallet.ts';
import { livePageCases } from './payments/live-page.ts';

/**
 * What people of an account, operators and customers see and do, and the documents: cases that share one Chromium, and one stack
 * with Ethereum alone, which takes a third less than one with all chains.
 */

await inBrowser('in a browser', (open) => {
  let quittance: Quittance;
  let testMoney: Listening | undefined;
  const stack = () => quittance;
  beforeAll(async () => {
    const port = await freePort();
    quittance = await startQuittance({
      // As a sandbox is opened: passkeys belong to a name.
      publicHost: 'localhost',
      settings: { gateway: { ...OUT_OF_THE_WAY, SANDBOX_URL: testMoneyUrl(port) } },
      together: services,
      auditor: true,
      chains: [],
      confirmations: CONFIRMATIONS,
      quiet: true,
    });
    testMoney = await serveTestMoneyOf(quittance.stack, port);
  }, STACK_STARTED_WITHIN_MS);
  afterAll(async () => {
    await testMoney?.close(0);
    await quittance?.stop();
  });

  describe('the dashboard of money in', () => moneyInCases(stack, open));
  describe('the dashboard of money out', () => moneyOutCases(stack, open));
  describe('the dashboard of a shop', () => shopCases(stack, open));
  describe('the dashboard and the people of an account', () => peopleCases(stack, open));
  describe('the dashboard for developers', () => developerCases(stack, open));
  describe('the notifications of the dashboard', () => notificationCases(stack, open));
  describe('the console of operators', () => operatorCases(stack, open));
  describe('the dashboard of a sandbox', () => sandboxCases(stack, open));
  describe('the scripts of the payment page', () => livePageCases(stack, open));
  describe('payment pages', () => browserWalletCases(stack, open));
  describe('the documents', () => documentCases(stack, open));
});
