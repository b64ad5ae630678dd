import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Open } from '@quittance/browser/in-browser';
import type { Visit } from '@quittance/browser/visit';
import { eventually } from '@quittance/testkit/eventually';
import { localPort } from '@quittance/testkit/local-port';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Page, Route } from 'playwright-core';
import { CONFIRMATIONS, type OnStack } from '../on-stack.ts';

/** What the scripts add to the payment page, in a browser, on a stack with Ethereum. */

type Made = { id: string; url: string; address: { address: string } };

export function livePageCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  let shop: Merchant;
  beforeAll(async () => {
    quittance = stack();
    shop = await quittance.merchant();
  });
  afterAll(() => void shopServer.close());

  async function made(path: string, order: object): Promise<Made> {
    const answer = await shop.post(path, order);
    expect(answer.status).toBe(201);
    return answer.body.data;
  }
  const invoice = (more: object = {}) => made('/api/invoices', { asset: 'ETH', amount: 25, ...more });
  const pay = ({ address }: Made, amount: string) => quittance.ethereum.pay('ETH', address.address, amount);
  const mineAll = () => quittance.ethereum.mine(CONFIRMATIONS + 1);

  /** A page that knows whether it was loaded again. */
  async function see(url: string): Promise<Visit> {
    const visit = await open(url);
    await visit.page.goto(url);
    await visit.page.evaluate('window.isFirst = true');
    return visit;
  }
  const shows = (page: Page, text: string | RegExp) =>
    page.getByText(text).first().waitFor({ state: 'visible' });
  /** The page closes its stream as soon as nothing changes any more: when all is paid. */
  const closesStream = ({ expectProblem }: Visit) => expectProblem(/\/events\?.*ERR_ABORTED/);
  const isFirst = (page: Page) => page.evaluate<boolean>('window.isFirst === true');

  test('show each step of a payment without a reload, say it, and leave the focus where it was', async () => {
    const one = await invoice();
    const visit = await see(one.url);
    const { page, requests } = visit;
    closesStream(visit);
    await page.getByRole('link', { name: 'Open in a wallet' }).focus();
    await pay(one, '0.004');
    await quittance.ethereum.mine();
    await shows(page, /^Send 0\.006 ETH more/);
    expect(await page.locator(':focus').textContent()).toBe('Open in a wallet');
    await pay(one, '0.006');
    await mineAll();
    await shows(page, 'Thank you');
    expect(await page.title()).toBe('Paid');
    expect(await page.locator('#voice').textContent()).toBe('Paid');
    // The link has gone: who uses the keyboard is at the headline.
    expect(await page.locator(':focus').textContent()).toBe('Thank you');
    expect(await isFirst(page)).toBe(true);
    expect(requests.filter((url) => url.includes('/events'))).toHaveLength(1);
  });

  test('count the time down, and show the end of a payment', async () => {
    const { id, url } = await invoice({ expires_in: 30 });
    const { page } = await see(url);
    const left = page.locator('time.left');
    const first = await left.textContent();
    expect(first).toMatch(/^(?:30:00|29:5\d)$/);
    await eventually(async () => expect(await left.textContent()).not.toBe(first));
    expect((await shop.post(`/api/invoices/${id}/cancel`, {})).status).toBe(200);
    await shows(page, 'Cancelled');
    expect(await isFirst(page)).toBe(true);
  });

  test('copy the exact amount and address, and say so', async () => {
    const one = await invoice();
    const { page } = await see(one.url);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    for (const text of ['0.01', one.address.address]) {
      const button = page.getByRole('button', { name: `Copy ${text}` });
      await button.click();
      await eventually(async () => expect(await button.textContent()).toBe('Copied'));
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
      expect(await page.locator('#voice').textContent()).toBe('Copied');
    }
  });

  test('look by themselves where there is no stream', async () => {
    const one = await invoice();
    const { page, expectProblem } = await open(one.url);
    expectProblem(/503/);
    await page.route('**/events?*', (route) => route.fulfill({ status: 503 }));
    await page.goto(one.url);
    await page.evaluate('window.isFirst = true');
    await pay(one, '0.01');
    await mineAll();
    await shows(page, 'Thank you');
    expect(await isFirst(page)).toBe(true);
  });

  test('keep what is to be paid where there is no connection, and show what came since when it is back', async () => {
    const one = await invoice();
    const visit = await see(one.url);
    const { page } = visit;
    // Whether it asks for something in this time is its own affair; in the end it closes its stream.
    visit.expectProblem(/ERR_INTERNET_DISCONNECTED|\/events\?.*ERR_ABORTED/);
    await page.context().setOffline(true);
    await pay(one, '0.01');
    await mineAll();
    await eventually(async () =>
      expect((await shop.get(`/api/invoices/${one.id}`)).body.status).toBe('paid'),
    );
    expect(await page.locator('h1').textContent()).toMatch(/^Send 0\.01 ETH/);
    expect(await page.getByText(one.address.address).isVisible()).toBe(true);
    await page.context().setOffline(false);
    await shows(page, 'Thank you');
    expect(await isFirst(page)).toBe(true);
  });

  test('show the choice of an asset that was made elsewhere', async () => {
    const { id, url } = await made('/api/invoices', { assets: ['ETH', 'USDC_ERC20'], amount: 25 });
    const { page } = await see(url);
    await shows(page, /Choose what/);
    const body = new URLSearchParams({ asset: 'ETH' });
    expect((await fetch(`${quittance.url}/pay/${id}/choose`, { method: 'POST', body })).status).toBe(200);
    await shows(page, /^Send 0\.01 ETH/);
    expect(await isFirst(page)).toBe(true);
  });

  /** A page whose time the test decides, with a stream that is refused: its script looks by itself. */
  async function withoutStream(url: string): Promise<Visit> {
    const visit = await open(url);
    visit.expectProblem(/503/);
    await visit.page.clock.install();
    await visit.page.route('**/events?*', (route) => route.fulfill({ status: 503 }));
    return visit;
  }

  /** A stream that is opened now is refused after that of the script. */
  const hearsThatStreamIsRefused = (page: Page) =>
    page.evaluate(`new Promise((done) => {
      new EventSource(document.querySelector('main').dataset.events).onerror = done;
    })`);
  /** How often the script has asked for its page. */
  const looksAt = (url: string, requests: readonly string[]) =>
    requests.filter((one) => one === url).length - 1;

  test('look again after half a minute where the page does not say when', async () => {
    const { url } = await invoice();
    const { page, requests } = await withoutStream(url);
    await page.route(url, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({
        response: answer,
        body: (await answer.text()).replace(/ data-refresh="\d+"/, ''),
      });
    });
    await page.goto(url);
    expect(await page.locator('main').getAttribute('data-refresh')).toBeNull();
    await hearsThatStreamIsRefused(page);
    // The time that the test itself takes counts too.
    await page.clock.runFor(20_000);
    expect(looksAt(url, requests)).toBe(0);
    await page.clock.runFor(11_000);
    await eventually(() => expect(looksAt(url, requests)).toBe(1));
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('forget a look that fails after a later one was shown', async () => {
    const { id, url } = await invoice();
    const { page, requests, expectProblem } = await withoutStream(url);
    expectProblem(/ERR_FAILED/);
    expectProblem(/404/);
    await page.goto(url);
    await hearsThatStreamIsRefused(page);
    const held: Route[] = [];
    await page.route(url, (route) => (held.length === 0 ? void held.push(route) : route.continue()));
    await page.clock.runFor(6_000);
    await eventually(() => expect(held).toHaveLength(1));
    expect((await shop.post(`/api/invoices/${id}/cancel`, {})).status).toBe(200);
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    await hearsThatStreamIsRefused(page);
    await page.clock.runFor(6_000);
    await shows(page, 'Cancelled');
    const failed = page.waitForEvent('requestfailed');
    await held[0]?.abort();
    await failed;
    // Less than any wait of the page: what is asked for now was repeated at once.
    await page.clock.runFor(1_000);
    // Whatever the script asked for then was asked for before this.
    expect(await page.evaluate<number>(`fetch('/pay/nothing').then(({ status }) => status)`)).toBe(404);
    expect(looksAt(url, requests)).toBe(2);
  });

  /** A shop on an origin of its own: each of its pages has the dialog. */
  let pageOfShop = '';
  let shopOrigin = '';
  const shopServer = createServer((_req, res) => {
    res.setHeader('Content-Type', 'text/html');
    res.end(pageOfShop);
  });
  beforeAll(async () => {
    shopOrigin = `http://${new URL(quittance.url).hostname}:${await localPort(shopServer)}`;
  });

  /** The API takes origins of HTTPS alone. */
  async function mayFrame(origins: string[]): Promise<void> {
    expect((await shop.patch('/api/invoice-settings', { currency: 'USD' })).status).toBe(200);
    await quittance.db.rows(
      'update invoices.invoice_settings set frame_ancestors = $1 where account_id = $2',
      [origins, shop.id],
    );
  }

  async function shopPage(url: string): Promise<Visit> {
    const visit = await open(shopOrigin);
    pageOfShop = `<!doctype html><title>Shop</title><link rel="icon" href="data:,">
      <a href="${url}" data-quittance>Pay</a>
      <script src="${quittance.url}/pay/assets/modal.js"></script>
      <script>window.states = []; addEventListener('quittance', ({ detail }) => states.push(detail.state));</script>`;
    visit.expectProblem(/^other origin/);
    await visit.page.goto(`${shopOrigin}/basket`);
    return visit;
  }

  test('show the page in a dialog of a shop that may frame it, and tell the shop when it is paid', async () => {
    await mayFrame([shopOrigin]);
    const one = await invoice();
    const visit = await shopPage(one.url);
    const { page } = visit;
    closesStream(visit);
    await page.getByRole('link', { name: 'Pay' }).click();
    const frame = page.frameLocator('dialog iframe');
    await frame
      .getByText(/^Send 0\.01 ETH/)
      .first()
      .waitFor();
    await pay(one, '0.01');
    await mineAll();
    await frame.getByText('Thank you').waitFor();
    await eventually(async () => expect(await page.evaluate('states')).toContain('paid'));
    await frame.locator('h1').click();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(page.url()).toBe(`${shopOrigin}/basket`);
    await mayFrame([]);
  });

  test('tell the shop in its dialog that a payment link has ended, and leave the customer there', async () => {
    await mayFrame([shopOrigin]);
    const { id, url } = await made('/api/payment-links', { description: 'Tea', amount: 25 });
    expect((await shop.post(`/api/payment-links/${id}/deactivate`, {})).status).toBe(200);
    const { page, expectProblem } = await shopPage(url);
    expectProblem(/410/);
    await page.clock.install();
    await page.getByRole('link', { name: 'Pay' }).click();
    await eventually(async () => expect(await page.evaluate('states')).toEqual(['link_ended']));
    await page.clock.runFor(10_000);
    expect(page.url()).toBe(`${shopOrigin}/basket`);
    await page.frameLocator('dialog iframe').locator('h1').click();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await mayFrame([]);
  });

  test('lead to the page where the shop may not frame it', async () => {
    const one = await invoice();
    const { page, expectProblem } = await shopPage(one.url);
    expectProblem(/frame-ancestors/);
    expectProblem(/ERR_BLOCKED_BY_RESPONSE/);
    await page.getByRole('link', { name: 'Pay' }).click();
    await page.waitForURL(one.url);
    await shows(page, /^Send 0\.01 ETH/);
  });
}
