import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inBrowser } from '@quittance/browser/in-browser';
import type { Visit } from '@quittance/browser/visit';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import type { Page } from 'playwright-core';

/** What the scripts add to the payment page, in a browser, on a stack with Ethereum. */

const CONFIRMATIONS = 2;
type Made = { id: string; url: string; address: { address: string } };
type Asked = { method: string; params?: unknown[] };

await inBrowser('the scripts of the payment page', (open) => {
  let quittance: Quittance;
  let shop: Merchant;
  beforeAll(async () => {
    quittance = await startQuittance({
      together: ['gateway', 'invoices', 'payouts', 'ledger', 'webhooks'],
      confirmations: CONFIRMATIONS,
      quiet: true,
    });
    shop = await quittance.merchant();
  }, STACK_STARTED_WITHIN_MS);
  afterAll(async () => {
    shopServer.close();
    await quittance?.stop();
  });

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
  /** The page closes its stream as soon as nothing changes any more. */
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
    const visit = await see(url);
    const { page } = visit;
    closesStream(visit);
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

  test('show the choice of an asset that was made elsewhere', async () => {
    const { id, url } = await made('/api/invoices', { assets: ['ETH', 'USDC_ERC20'], amount: 25 });
    const { page } = await see(url);
    await shows(page, /Choose what/);
    const body = new URLSearchParams({ asset: 'ETH' });
    expect((await fetch(`${quittance.url}/pay/${id}/choose`, { method: 'POST', body })).status).toBe(200);
    await shows(page, /^Send 0\.01 ETH/);
    expect(await isFirst(page)).toBe(true);
  });

  /** A page with a wallet of the browser, which names itself (EIP-6963). */
  async function withWallet(
    url: string,
    name: string,
    answer: (asked: Asked) => Promise<unknown>,
  ): Promise<Visit> {
    const visit = await open(url);
    const { page } = visit;
    await page.exposeFunction('askWallet', async (asked: Asked) => {
      try {
        return { result: await answer(asked) };
      } catch (error) {
        // Of an error that is thrown across this border only the message arrives.
        return { error: { code: (error as { code?: number }).code } };
      }
    });
    await page.addInitScript(`(() => {
      const provider = {
        async request(asked) {
          const { result, error } = await window.askWallet(asked);
          if (error) throw error;
          return result;
        },
      };
      const info = { uuid: '1', name: ${JSON.stringify(name)}, icon: 'data:,', rdns: 'example.wallet' };
      const detail = Object.freeze({ info, provider });
      const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
      addEventListener('eip6963:requestProvider', announce);
      announce();
    })();`);
    await page.goto(url);
    return visit;
  }

  test('have a wallet of the browser send exactly the amount, on the right network, and ask it once', async () => {
    const one = await invoice();
    const asked: Asked[] = [];
    const from = '0x00000000000000000000000000000000000000aa';
    let chain = '0x1';
    let isPaid = false;
    const visit = await withWallet(one.url, '<img src=x onerror=alert(1)>', async (request) => {
      asked.push(request);
      switch (request.method) {
        case 'eth_requestAccounts':
          return [from];
        case 'eth_chainId':
          return chain;
        case 'wallet_switchEthereumChain':
          chain = (request.params as [{ chainId: string }])[0].chainId;
          return null;
        default:
          await pay(one, '0.01');
          isPaid = true;
          return `0x${'1'.repeat(64)}`;
      }
    });
    const { page } = visit;
    closesStream(visit);
    await page.getByRole('button', { name: 'Pay with <img src=x onerror=alert(1)>' }).click();
    await eventually(() => expect(isPaid).toBe(true));
    await mineAll();
    await shows(page, 'Thank you');
    expect(await page.getByRole('button', { name: /Pay with/ }).count()).toBe(0);
    expect(asked.map(({ method }) => method)).toEqual([
      ...['eth_requestAccounts', 'eth_chainId', 'wallet_switchEthereumChain', 'eth_chainId'],
      'eth_sendTransaction',
    ]);
    const to = one.address.address.toLowerCase();
    expect(asked.at(-1)?.params).toEqual([
      { from, to, value: '0x2386f26fc10000', data: '0x', chainId: chain },
    ]);
  });

  test('say in plain words what a wallet refuses, and let it be asked again', async () => {
    const { url } = await invoice();
    let code = 0;
    const { page } = await withWallet(url, 'Purse', async () => {
      throw Object.assign(new Error('refused'), { code });
    });
    const button = page.getByRole('button', { name: 'Pay with Purse' });
    for (const [error, text] of [
      [4001, 'You have declined in the wallet. Nothing was paid.'],
      [4902, /Please choose the network Ethereum/],
      [-32603, /Your wallet reports a problem/],
    ] as const) {
      code = error;
      await button.click();
      await page.locator('.wallets').getByText(text).waitFor();
      expect(await button.isEnabled()).toBe(true);
    }
  });

  /** A shop on an origin of its own: each of its pages has the dialog. */
  let pageOfShop = '';
  let shopOrigin = '';
  const shopServer = createServer((_req, res) => {
    res.setHeader('Content-Type', 'text/html');
    res.end(pageOfShop);
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => shopServer.listen(0, '127.0.0.1', resolve));
    shopOrigin = `http://127.0.0.1:${(shopServer.address() as AddressInfo).port}`;
  });

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
    // The API takes origins of HTTPS alone.
    expect((await shop.patch('/api/invoice-settings', { currency: 'USD' })).status).toBe(200);
    await quittance.db.rows('update invoices.invoice_settings set frame_ancestors = $1', [[shopOrigin]]);
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
    await quittance.db.rows(`update invoices.invoice_settings set frame_ancestors = '{}'`);
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
});
