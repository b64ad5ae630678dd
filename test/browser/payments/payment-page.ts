import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { findChromium } from '@quittance/browser/chromium';
import { expectNoAxeFindings, expectNoSidewaysScroll } from '@quittance/browser/expect-page';
import type { Open } from '@quittance/browser/in-browser';
import { differingShare, type PictureName, pictures, takePicture } from '@quittance/browser/pictures';
import { readQrCode } from '@quittance/browser/qr-code';
import { changeLook, type Look } from '@quittance/browser/windows';
import { languages } from '@quittance/shared/page-language';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { notTried } from '@quittance/testkit/not-tried';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Browser, Page } from 'playwright-core';
import { CONFIRMATIONS, type OnStack } from '../on-stack.ts';
import { addressesIn, asShown, paidBy } from './addresses.ts';

/** What a customer sees and does, in a browser, on a stack with all chains. */

/** Every kind of address and of link for a wallet. */
const ASSETS = ['BTC', 'ETH', 'USDC_ERC20', 'SOL', 'USDC_SOL'] as const;
/** A window as narrow as any, and a wide one; each state of a page is looked at in both. */
const LOOKS: readonly Look[] = [
  { window: 'small', scheme: 'light' },
  { window: 'desktop', scheme: 'dark' },
];

type Made = { id: string; url: string; amount: string; address: { address: string } };

const found = await findChromium();
const hasFonts = 'file' in found && found.hasFonts;

export function paymentPageCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  let shop: Merchant;
  beforeAll(async () => {
    quittance = stack();
    shop = await quittance.merchant();
  });

  async function made(path: string, order: object): Promise<Made> {
    const answer = await shop.post(path, order);
    expect(answer.status).toBe(201);
    return answer.body.data;
  }
  const invoice = (asset: string, more: object = {}) => made('/api/invoices', { asset, amount: 25, ...more });

  async function see(url: string, look: Look = {}): Promise<Page> {
    const { page } = await open(url, look);
    await page.goto(url);
    return page;
  }
  const shows = (page: Page, text: string | RegExp) =>
    page.getByText(text).first().waitFor({ state: 'visible' });

  /** Nobody is kept from reading it, in a narrow light window and in a wide dark one. */
  async function expectReadable(url: string, text: string | RegExp): Promise<void> {
    const page = await see(url, LOOKS[0]);
    for (const look of LOOKS) {
      await changeLook(page, look);
      await shows(page, text);
      await expectNoSidewaysScroll(page);
      await expectNoAxeFindings(page);
    }
  }

  for (const asset of ASSETS) {
    test(`shows the address and the amount of ${asset} that are stored: as text, as a link and as a QR code`, async () => {
      const { id, url, amount } = await invoice(asset);
      const [stored] = await quittance.db.rows<{ address: string }>(
        'select address from invoices.invoices where id = $1',
        [id],
      );
      const { page, requests } = await open(url, { window: 'phone' });
      await page.goto(url);
      // But for what tells it of changes, it asks for nothing.
      expect(requests.filter((one) => !one.startsWith(`${url}/events?`))).toEqual([url]);
      const link = await page.getByRole('link', { name: /wallet/i }).getAttribute('href');
      const code = await readCode(page);
      const address = asShown(asset, stored?.address ?? '');
      expect(code).toBe(link);
      expect(paidBy(asset, code)).toEqual({ address, amount });
      expect(addressesIn(asset, await textOf(page))).toEqual([address]);
      expect(await textOf(page)).toContain(amount);
    });
  }

  test('can be read in a dark window, and its QR code by a wallet', async () => {
    const { url, address } = await invoice('BTC');
    const page = await see(url, { window: 'small', scheme: 'dark' });
    const code = await readCode(page);
    expect(paidBy('BTC', code).address).toBe(address.address);
    await expectNoAxeFindings(page);
  });

  test('can be read from right to left, and a wallet reads its code', async () => {
    const { url, address, amount } = await invoice('ETH', { description: 'شاي' });
    const page = await see(url, { window: 'small', locale: 'ar' });
    expect(await page.evaluate('getComputedStyle(document.body).direction')).toBe('rtl');
    expect(paidBy('ETH', await readCode(page))).toEqual({ address: address.address, amount });
    // An amount is read from the left, whatever stands around it.
    const [number, symbol] = [await placeInHeadline(page, amount), await placeInHeadline(page, 'ETH')];
    expect(number.top).toBe(symbol.top);
    expect(number.left).toBeLessThan(symbol.left);
    await expectNoSidewaysScroll(page);
    await expectNoAxeFindings(page);
  });

  test('fits into a small window in every language', async () => {
    const { url } = await invoice('USDC_ERC20');
    for (const language of languages) {
      const page = await see(url, { window: 'small', locale: language });
      expect(await page.evaluate('document.documentElement.lang')).toBe(language);
      await expectNoSidewaysScroll(page);
    }
  });

  test('without scripts it shows all, and by itself that the payment has come', async () => {
    const { url, address, amount } = await invoice('ETH');
    const page = await see(url, { javaScript: false });
    expect(addressesIn('ETH', await textOf(page))).toEqual([address.address]);
    await quittance.ethereum.pay('ETH', address.address, amount);
    await quittance.ethereum.mine(CONFIRMATIONS);
    await shows(page, 'Thank you');
  });

  test('with the keyboard alone a customer chooses what to pay with, and reaches the wallet', async () => {
    const { url } = await made('/api/invoices', { assets: ['ETH', 'USDC_ERC20'], amount: 25 });
    const page = await see(url);
    const focused = () => page.locator(':focus');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await focused().textContent()).toContain('USDC');
    expect(await outlineOfFocused(page)).toBe('solid');
    await page.keyboard.press('Enter');
    await shows(page, /^Send 25 USDC/);
    await page.keyboard.press('Tab');
    expect(await focused().getAttribute('href')).toMatch(/^ethereum:/);
    expect(await outlineOfFocused(page)).toBe('solid');
  });

  for (const [name, { order }] of Object.entries(pictures)) {
    const title = `looks as in the picture docs/images/${name}.png`;
    if (!hasFonts) {
      notTried(title, 'this machine has fonts of its own');
      continue;
    }
    test(title, async () => {
      const { page } = await open(quittance.url);
      const browser = page.context().browser() as Browser;
      const { url } = await made('/api/invoices', order);
      const taken = await takePicture(browser, name as PictureName, url);
      const kept = readFileSync(new URL(`../../../docs/images/${name}.png`, import.meta.url));
      const share = await differingShare(browser, taken, kept);
      // `npm run screenshots` takes them again.
      expect(share).toBeLessThan(DIFFERING_SHARE_MAX);
    });
  }

  describe('every state can be read', () => {
    const pay = ({ address }: Made, amount: string) => quittance.ethereum.pay('ETH', address.address, amount);
    const isNow = (id: string, status: string) =>
      eventually(async () => expect((await shop.get(`/api/invoices/${id}`)).body.status).toBe(status));

    test('before anything is paid', async () => {
      // The longest address, and a description as long as it may be, of one word.
      const { url } = await invoice('BTC', { description: 'W'.repeat(DESCRIPTION_CHARACTERS_MAX) });
      await expectReadable(url, /^Send /);
    });

    test('after a part was paid, all of it, and its confirmations', async () => {
      const ofEther = await invoice('ETH');
      await pay(ofEther, '0.004');
      await quittance.ethereum.mine();
      await isNow(ofEther.id, 'partially_paid');
      await expectReadable(ofEther.url, /^Send 0\.006 ETH more/);
      await pay(ofEther, '0.006');
      await quittance.ethereum.mine();
      await isNow(ofEther.id, 'confirmed');
      await expectReadable(ofEther.url, /being confirmed/);
      await quittance.ethereum.mine(CONFIRMATIONS);
      await isNow(ofEther.id, 'paid');
      await expectReadable(ofEther.url, 'Thank you');
    });

    test('while a payment waits for its first block', async () => {
      const { id, url, address, amount } = await invoice('BTC');
      await quittance.bitcoin.pay('BTC', address.address, amount);
      await isNow(id, 'confirmed');
      await expectReadable(url, /waits for its first block/);
      await quittance.bitcoin.mine(CONFIRMATIONS);
      await isNow(id, 'paid');
    });

    test('after the shop has cancelled it', async () => {
      const { id, url } = await invoice('ETH', { timeout_url: 'https://shop.example/basket' });
      expect((await shop.post(`/api/invoices/${id}/cancel`, {})).status).toBe(200);
      await expectReadable(url, 'Cancelled');
    });

    test('before the choice of what to pay with, and of the amount of a link', async () => {
      await expectReadable((await made('/api/invoices', { assets: 'all', amount: 25 })).url, /Choose what/);
      await expectReadable((await made('/api/payment-links', { description: 'Tea' })).url, 'Tea');
    });

    test('where there is no payment', async () => {
      const { page, expectProblem } = await open(quittance.url, { window: 'small' });
      expectProblem(/404/);
      await page.goto(`${quittance.url}/pay/inv_0`);
      await shows(page, 'There is no such payment');
      await expectNoAxeFindings(page);
    });
  });
}

const DESCRIPTION_CHARACTERS_MAX = 255;
/** Another release of Chromium may draw the edge of a letter in another way. Another letter is twice as much. */
const DIFFERING_SHARE_MAX = 0.0003;

/** What another device reads from the screen; in a narrow window the code may have to be shown first. */
async function readCode(page: Page): Promise<string> {
  const summary = page.locator('summary', { hasText: /QR/ });
  if (await summary.isVisible()) await summary.click();
  return await readQrCode(page.getByRole('img', { name: /QR/ }).filter({ visible: true }));
}

/** Where the text stands in the headline. */
const placeInHeadline = (page: Page, text: string): Promise<{ left: number; top: number }> =>
  page.evaluate(`(() => {
    const { firstChild } = document.querySelector('h1');
    const at = firstChild.textContent.indexOf('${text}');
    const range = document.createRange();
    range.setStart(firstChild, at);
    range.setEnd(firstChild, at + ${text.length});
    return range.getBoundingClientRect().toJSON();
  })()`);

/** What can be seen: a part that is hidden is no part of it. */
// biome-ignore lint/performance/useDomNodeTextContent: the text of the elements is more than what is shown
const textOf = (page: Page): Promise<string> => page.locator('main').innerText();

/** How the element that has the keyboard shows it. */
const outlineOfFocused = (page: Page): Promise<string> =>
  page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
