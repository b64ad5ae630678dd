import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type FirefoxPage, findFirefox, openFirefox } from '@quittance/browser/firefox';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { notTried } from '@quittance/testkit/not-tried';
import { STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { dashboardPerson } from './person.ts';

/** The pages in Firefox, without Playwright, which needs a Firefox of its own: what customers and merchants see first. */

const CONFIRMATIONS = 2;
const PAYMENT = 'Firefox shows the page of a payment, and by itself that it was paid';
const DASHBOARD = 'Firefox signs somebody in to the dashboard, and shows the account';

const found = await findFirefox();
if ('problem' in found)
  for (const title of [PAYMENT, DASHBOARD]) notTried(title, 'FIREFOX=1 was not set, or there is none');
else
  describe('in Firefox', () => {
    let quittance: Quittance;
    let shop: Merchant;
    let page: FirefoxPage;
    beforeAll(async () => {
      quittance = await startQuittance({
        chains: [],
        together: ['gateway', 'invoices', 'payouts', 'ledger', 'webhooks'],
        confirmations: CONFIRMATIONS,
        quiet: true,
      });
      shop = await quittance.merchant();
    }, STACK_STARTED_WITHIN_MS);
    afterAll(() => quittance?.stop());
    beforeEach(async () => {
      page = await openFirefox(found);
    }, STACK_STARTED_WITHIN_MS);
    afterEach(async () => {
      await page?.close();
      expect(page?.problems).toEqual([]);
    });

    const shows = (text: string) =>
      eventually(async () => expect(await page.evaluate<string>('document.body.innerText')).toContain(text));
    async function fill(selector: string, text: string): Promise<void> {
      await page.evaluate(`document.querySelector('${selector}').focus()`);
      await page.type(text);
    }

    test(PAYMENT, async () => {
      const { data } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 25 })).body;
      await page.goto(data.url);
      await shows('Send 0.01 ETH');
      await shows(data.address.address);
      await page.evaluate('window.isFirst = true');
      await quittance.ethereum.pay('ETH', data.address.address, data.amount);
      await quittance.ethereum.mine(CONFIRMATIONS);
      await shows('Thank you');
      expect(await page.evaluate('window.isFirst')).toBe(true);
      expect(await page.evaluate('document.title')).toBe('Paid');
    });

    test(DASHBOARD, async () => {
      const { email, password } = await dashboardPerson(quittance, shop, 'Fred');
      await page.goto(`${quittance.url}/dashboard`);
      await shows('Sign in');
      await fill('input[type=email]', email);
      // The last is the key that sends a form.
      await fill('input[type=password]', `${password}${ENTER}`);
      await shows('Needs attention');
      await shows('Volume and conversion');
    });
  });

/** As WebDriver writes the key. */
const ENTER = '\uE007';
