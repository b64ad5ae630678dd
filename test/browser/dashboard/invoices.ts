import { beforeAll, expect, test } from '@jest/globals';
import type { Open } from '@quittance/browser/in-browser';
import { readQrCode } from '@quittance/browser/qr-code';
import type { Visit } from '@quittance/browser/visit';
import type { Look } from '@quittance/browser/windows';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Page } from 'playwright-core';
import { CONFIRMATIONS, type OnStack } from '../on-stack.ts';
import { type DashboardPerson, dashboardPerson, goTo, openAs } from '../person.ts';
import { measureInteraction, NOTE_INTERACTIONS } from './interactions.ts';

/** Money in, as people of an account see it in a browser. */

const CUSTOMER = '0x52908400098527886E0F7030069857D2E4169EE7';

type Made = { id: string; url: string; amount: string; address: { address: string } };

export function moneyInCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  let shop: Merchant;
  let owner: DashboardPerson;
  beforeAll(async () => {
    quittance = stack();
    shop = await quittance.merchant();
    owner = await dashboardPerson(quittance, shop, 'Ines');
  });

  async function see(path: string, person = owner, look: Look = {}): Promise<Visit> {
    const visit = await open(quittance.url, look);
    await openAs(visit, quittance, person, path);
    return visit;
  }
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  async function made(order: object): Promise<Made> {
    const answer = await shop.post('/api/invoices', { asset: 'ETH', amount: 25, ...order });
    expect(answer.status).toBe(201);
    return answer.body.data;
  }
  async function paid(order: object = {}): Promise<Made> {
    const invoice = await made(order);
    await quittance.ethereum.pay('ETH', invoice.address.address, invoice.amount);
    await quittance.ethereum.mine(CONFIRMATIONS + 1);
    await eventually(async () =>
      expect((await shop.get(`/api/invoices/${invoice.id}`)).body.status).toBe('paid'),
    );
    return invoice;
  }
  /** A payment in another asset than the invoice waits for a decision. */
  async function unresolved(amount: string): Promise<string> {
    const { id, address } = await made({});
    await quittance.ethereum.pay('USDC_ERC20', address.address, amount);
    await quittance.ethereum.mine(CONFIRMATIONS + 1);
    return await eventually(async () => {
      const [found] = (await shop.get(`/api/unresolved?invoice_id=${id}`)).body.data;
      expect(found).toMatchObject({ status: 'open', reason: 'wrong_asset' });
      return found.id as string;
    });
  }
  const refundsOf = async (id: string) =>
    (await shop.get(`/api/refunds?invoice_id=${id}`)).body.data as { status: string; amount: string }[];

  test('a refund whose answer was lost is made once, and its claim link stays shown when nothing is left', async () => {
    const { id, amount } = await paid();
    const { page, expectProblem } = await see(`/invoices/${id}`);
    await button(page, 'Refund').click();
    await button(page, 'Go on').click();
    await page.getByRole('dialog').getByText(`${amount} ETH`).first().waitFor();
    const keys: (string | undefined)[] = [];
    await page.route('**/api/invoices/*/refunds', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      if (keys.length > 1) return await route.continue();
      expectProblem(/refunds/);
      await route.fetch();
      await route.abort();
    });
    await button(page, 'Create the claim link').click();
    await page.getByText('It is not known whether').waitFor();
    expect(await button(page, 'Back').isDisabled()).toBe(true);
    await button(page, 'Create the claim link').click();
    const link = page.getByText(/\/claim\/[\w-]+$/);
    await link.waitFor();
    expect(keys).toEqual([expect.any(String), keys[0]]);
    expect(await refundsOf(id)).toMatchObject([{ status: 'claimable', amount }]);
    // The page has read that nothing is left, and the link is still there.
    await page.getByText('A refund of').waitFor();
    await button(page, 'Refund').waitFor({ state: 'detached' });
    expect((await fetch((await link.textContent()) ?? '')).status).toBe(200);
    await button(page, 'I have kept it').click();
    await link.waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain('/claim/');
  });

  test('the timeline of an invoice has what the chain, the ledger, payouts and the event log know of it', async () => {
    const { id } = await paid();
    expect((await shop.post(`/api/invoices/${id}/refunds`, { amount: 10, address: CUSTOMER })).status).toBe(
      201,
    );
    const { page } = await see(`/invoices/${id}`);
    await page.getByText('taken from the balance for a refund').waitFor();
    const inOrder = [
      'was requested',
      'A refund of 0.004 ETH was created',
      'invoice.paid',
      '0.01 ETH credited to the balance',
      'The payment of 0.01 ETH is final',
      'A payment of 0.01 ETH was seen',
      'Created',
    ];
    // Each service tells its part when it is asked, one before the other.
    await eventually(async () => {
      const timeline = (await page.getByRole('region', { name: 'Timeline' }).textContent()) ?? '';
      const places = inOrder.map((text) => timeline.indexOf(text));
      expect(places).not.toContain(-1);
      expect(places.slice(1)).toEqual(places.slice(1).toSorted((a, b) => a - b));
    });
  });

  test('a new invoice tells what the API refuses at its field, and has its link as a code and its texts as texts', async () => {
    const { page, expectProblem } = await see('/invoices/new');
    expectProblem(/422/);
    await page.getByLabel('Price').fill('1');
    await page.getByLabel('Description').fill('<img src=x onerror=alert(1)> hat');
    await page.getByLabel('Your reference').fill('new-1');
    await button(page, 'Create invoice').click();
    await page.getByText('The amount must be at least 5').waitFor();
    expect(await page.getByLabel('Price').getAttribute('aria-invalid')).toBe('true');
    expect((await shop.get('/api/invoices?external_id=new-1')).body.data).toEqual([]);
    await page.getByLabel('Price').fill('64.20');
    await button(page, 'Create invoice').click();
    const code = page.getByRole('img', { name: 'QR code of the payment page' });
    await code.waitFor();
    const [listed] = (await shop.get('/api/invoices?external_id=new-1')).body.data;
    const invoice = (await shop.get(`/api/invoices/${listed.id}`)).body;
    expect(await readQrCode(code)).toBe(invoice.url);
    expect(invoice).toMatchObject({ amount_fiat: '64.20', asset: null });
    await page.getByRole('link', { name: 'Show the invoice' }).click();
    await page.getByText('<img src=x onerror=alert(1)> hat').waitFor();
  });

  test('unresolved funds are accepted into the balance, or returned in part, after the exact amounts were shown', async () => {
    const accepted = await unresolved('7.5');
    const { page } = await see(`/unresolved/${accepted}`);
    await button(page, 'Accept').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('7.5 USDC (Ethereum)').waitFor();
    expect((await shop.get(`/api/unresolved/${accepted}`)).body.status).toBe('open');
    await dialog.getByRole('button', { name: 'Accept' }).click();
    await page.getByText('accepted', { exact: true }).waitFor();
    const { data } = (await shop.get('/api/balances')).body;
    expect(data).toContainEqual(
      expect.objectContaining({ asset: expect.objectContaining({ symbol: 'USDC_ERC20' }), balance: '7.5' }),
    );

    const returned = await unresolved('50');
    const second = (await see(`/unresolved/${returned}`)).page;
    await button(second, 'Return').click();
    await second.getByLabel('A part of it').check();
    await second.getByLabel('Amount in USDC (Ethereum)').fill('50.000001');
    await second.getByLabel('An address that your customer has told you').check();
    await second.getByLabel('Address on Ethereum').fill(CUSTOMER);
    await button(second, 'Go on').click();
    await second.getByText('This is more than is left').waitFor();
    await second.getByLabel('Amount in USDC (Ethereum)').fill('20');
    await button(second, 'Go on').click();
    await second.getByRole('dialog').getByText('20 USDC (Ethereum)').first().waitFor();
    await button(second, 'Send it back').click();
    await second.getByText('A payout is sending it').waitFor();
    expect((await shop.get(`/api/unresolved/${returned}`)).body).toMatchObject({
      status: 'open',
      amount: '30',
    });
  });

  test('a payment link is printed as a sheet with its code, which the screen does not show', async () => {
    const { page } = await see('/payment-links');
    await button(page, 'New payment link').click();
    await page.getByLabel('What is paid').fill('A poster');
    await page.getByRole('textbox', { name: 'Price' }).fill('12.5');
    await button(page, 'Create payment link').click();
    await button(page, 'Print').waitFor();
    const [link] = (await shop.get('/api/payment-links')).body.data;
    expect(link).toMatchObject({ description: 'A poster', amount_fiat: '12.50' });
    const sheet = page.locator('.qr-sheet');
    expect(await sheet.isVisible()).toBe(false);
    await page.emulateMedia({ media: 'print' });
    expect(await sheet.isVisible()).toBe(true);
    expect(await button(page, 'Print').isVisible()).toBe(false);
    expect(await readQrCode(sheet.locator('svg'))).toBe(link.url);
  });

  test('an invoice is found by what somebody types, and the address of the page keeps it', async () => {
    const [first] = [await made({ external_id: 'found-1' }), await made({ external_id: 'other-1' })];
    const { page } = await see('/invoices');
    const rows = page.getByRole('link', { name: /^(?:found|other)-1$/ });
    for (const typed of ['found', first.id, first.address.address]) {
      await page.getByLabel('Search').fill('');
      await page.getByRole('link', { name: 'other-1' }).waitFor();
      await page.getByLabel('Search').fill(typed);
      await page.getByRole('link', { name: 'other-1' }).waitFor({ state: 'detached' });
      expect(await rows.allTextContents()).toEqual(['found-1']);
    }
    await page.reload();
    await page.getByRole('link', { name: 'found-1' }).waitFor();
    expect(await page.getByLabel('Search').inputValue()).toBe(first.address.address);
  });

  test('somebody who only looks has no buttons that move money', async () => {
    const viewer = await dashboardPerson(quittance, shop, 'Vera', 'viewer');
    const [invoice, unpaid, funds] = [
      await paid(),
      await made({ external_id: 'unpaid' }),
      await unresolved('3'),
    ];
    expect((await shop.post(`/api/invoices/${invoice.id}/refunds`, { amount: 10 })).status).toBe(201);
    const link = (await shop.post('/api/payment-links', { description: 'Tea', amount: 12.5 })).body.data;
    const [full, reduced] = [(await see('/security')).page, (await see('/security', viewer)).page];
    // What the owner has on each page, and what both see when all of it is there.
    const pages: readonly [path: string, moving: string[], text: string][] = [
      ['/invoices', ['New invoice'], 'Columns'],
      [`/invoices/${invoice.id}`, ['Refund'], 'credited to the balance'],
      [`/invoices/${unpaid.id}`, ['Cancel invoice'], 'Remains to be paid'],
      ['/payment-links', ['New payment link'], 'Columns'],
      [`/payment-links/${link.id}`, ['Deactivate'], 'Open invoices'],
      ['/refunds', ['Cancel the link'], '1 to '],
      [`/unresolved/${funds}`, ['Accept', 'Return'], 'Received'],
      ['/balances', ['Pay out'], 'All balances'],
      ['/payouts', ['New payout'], 'Columns'],
      ['/payout-batches', ['New batch'], 'Columns'],
      ['/automatic-payouts', ['Add a rule'], 'No rule'],
    ];
    for (const [path, names, text] of pages) {
      for (const page of [full, reduced]) {
        await goTo(page, path);
        await page.getByText(text).first().waitFor();
      }
      for (const name of names) {
        const moving = (page: Page) => button(page, name).or(page.getByRole('link', { name, exact: true }));
        await moving(full).first().waitFor();
        expect([path, name, await moving(reduced).count()]).toEqual([path, name, 0]);
      }
    }
    await goTo(reduced, '/payouts/new');
    await reduced.getByText('Your role does not request payouts').waitFor();
  });

  /** As many as a shop has after some months, each as the first one. */
  async function thousandsOf(account: Merchant, rows: number): Promise<void> {
    const { id } = (await account.post('/api/invoices', { asset: 'ETH', amount: 25 })).body.data;
    await quittance.db.rows(
      `insert into invoices.invoices select copy.* from invoices.invoices i, generate_series(2, $2::int) as n,
         jsonb_populate_record(i, jsonb_build_object('id', 'inv_' || lpad(n::text, 36, '0'),
           'external_id', 'order ' || n, 'description', 'Row ' || n, 'status', 'expired', 'closed_at', now())) as copy
       where i.id = $1`,
      [id, rows],
    );
  }

  test('a list of 10,000 invoices computes a tenth of a second for what somebody does, or three on a slow machine', async () => {
    const large = await quittance.merchant();
    await thousandsOf(large, ROWS);
    const visit = await open(quittance.url);
    const { page } = visit;
    await page.addInitScript(NOTE_INTERACTIONS);
    await openAs(visit, quittance, await dashboardPerson(quittance, large, 'Lars'), '/invoices');
    const shown = (from: number) => page.getByText(`${from} to ${from + 24} of ${ROWS}`).waitFor();
    await shown(1);
    const nextPage = await measureInteraction(page, 7, async (turn) => {
      await page.getByRole('button', { name: 'The next page' }).click();
      await shown((turn + 1) * 25 + 1);
    });
    const typed = 'order 777';
    const search = await measureInteraction(page, typed.length, async (turn) => {
      await page.getByLabel('Search').press(typed.charAt(turn));
      // The first characters find all, the last ones what is looked for.
      if (turn === typed.length - 1) await page.getByRole('link', { name: typed, exact: true }).waitFor();
    });
    await page.getByText(/^1 to 11 of 11$/).waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await shown(1);
    await button(page, 'Columns').click();
    const columns = await measureInteraction(page, 8, async () => {
      await page.getByRole('menuitemcheckbox', { name: 'Expires' }).click();
    });
    const measured = { nextPage, search, columns };
    process.stdout.write(`interactions with ${ROWS} invoices, in ms: ${JSON.stringify(measured)}\n`);
    for (const { computed } of Object.values(measured)) {
      // Otherwise nothing was measured.
      expect(computed).toBeGreaterThan(0);
      expect(computed).toBeLessThan(INTERACTION_MS * SLOW);
    }
  });
}

const ROWS = 10_000;
const INTERACTION_MS = 100;
/** Of processors some have half the speed of others, and less while they share caches with the suites beside this one. */
const SLOW = 3;
