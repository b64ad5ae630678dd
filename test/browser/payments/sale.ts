import { beforeAll, expect, test } from '@jest/globals';
import type { Open } from '@quittance/browser/in-browser';
import type { Visit } from '@quittance/browser/visit';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { formatUnits, units } from '@quittance/shared/money';
import { type Customer, unitsOf } from '@quittance/testkit/customer';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { patient } from '@quittance/testkit/patience';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Page } from 'playwright-core';
import type { OnStack } from '../on-stack.ts';
import { goTo, invite, isSignedIn, noteRequests, PASSWORD, typeSignIn } from '../person.ts';
import { asShown } from './addresses.ts';

/** A whole sale as people see it, from the sign-up to the exported files, on a real node of each kind of chain. */

/** As the dashboard names them. */
const ASSETS = { BTC: 'BTC', ETH: 'ETH', SOL: 'SOL', USDC_ERC20: 'USDC (Ethereum)' } as const;
type Asset = keyof typeof ASSETS;
/** Of this the quarters have few decimals at the rates of a stack. */
const PRICE = 300;
const REFUNDED = 75;
const MONEY_WITHIN_MS = 60_000;
const ALL_WITHIN_MS = 150_000;

type Sold = { asset: Asset; id: string; due: string; quarter: string; refundedTo: string; paidTo: string };

export function saleCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  let shop: Merchant;
  beforeAll(async () => {
    quittance = stack();
    shop = await quittance.merchant();
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const customerOf = (asset: AssetSymbol): Customer => {
    const { chain } = assets[asset];
    if (chain === 'bitcoin') return quittance.bitcoin;
    return chain === 'solana' ? quittance.solana : quittance.ethereum;
  };
  /** Blocks come only when they are asked for; Solana's come by themselves. */
  const mined = (check: () => Promise<void>) =>
    eventually(
      async () => {
        await Promise.all([quittance.ethereum.mine(), quittance.bitcoin.mine()]);
        await check();
      },
      MONEY_WITHIN_MS,
      250,
    );

  /** Somebody who has only the link of an invitation, until the dashboard is shown. */
  async function signUp(visit: Visit): Promise<void> {
    const { page, expectProblem } = visit;
    const email = 'first@shop.example';
    const token = await invite(quittance, shop.id, email, 'owner');
    expectProblem(/status of 401 .*\/api\/me$/);
    await page.goto(`${quittance.url}/dashboard/#invitation=${token}`);
    await page.getByLabel('Your name').fill('Frida');
    await page.getByRole('textbox', { name: 'A password' }).fill(PASSWORD);
    await page.getByRole('textbox', { name: 'The password again' }).fill(PASSWORD);
    await button(page, 'Accept').click();
    await button(page, 'Sign in').click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await typeSignIn(page, { email, password: PASSWORD });
    await isSignedIn(page);
  }

  async function createInvoice(page: Page, asset: Asset): Promise<string> {
    await page.goto(`${quittance.url}/dashboard/invoices/new`);
    await page.getByLabel('Price').fill(String(PRICE));
    await page.getByText('You choose', { exact: true }).click();
    await page.getByRole('combobox', { name: 'Which' }).click();
    await page.getByRole('option', { name: ASSETS[asset], exact: true }).click();
    await page.getByLabel('Description').fill(`A coat for ${asset}`);
    await page.getByLabel('Your reference').fill(`order-${asset}`);
    await button(page, 'Create invoice').click();
    return (await page.getByText(/\/pay\/inv_\w+$/).textContent()) ?? '';
  }

  /** The customer, who has the link alone: the page says by itself that all has arrived. */
  async function pay(url: string, asset: Asset): Promise<string> {
    const { page, expectProblem } = await open(url, { window: 'phone' });
    // The page closes its stream as soon as nothing changes any more.
    expectProblem(/\/events\?.*ERR_ABORTED/);
    await page.goto(url);
    await page.evaluate('window.isFirst = true');
    await page.getByText(`A coat for ${asset}`).waitFor();
    const { amount, address } = (await shop.get(`/api/invoices/${url.split('/').at(-1)}`)).body;
    await page.getByText(address.address).waitFor();
    await customerOf(asset).pay(asset, address.address, amount);
    await mined(async () => expect(await page.title()).toBe('Paid'));
    await page.getByText('Thank you').waitFor();
    expect(await page.evaluate('window.isFirst')).toBe(true);
    return amount;
  }

  async function refundPart(page: Page, { id, asset, quarter, refundedTo }: Sold): Promise<void> {
    await goTo(page, `/invoices/${id}`);
    await button(page, 'Refund').click();
    await page.getByText('Left to refund').waitFor();
    await page.getByLabel('Another amount in USD').check();
    await page.getByLabel('Amount in USD', { exact: true }).fill(String(REFUNDED));
    await page.getByLabel('An address that your customer has told you').check();
    await page.getByLabel(/^Address on/).fill(refundedTo);
    await button(page, 'Go on').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`${quarter} ${ASSETS[asset]}`).first().waitFor();
    await button(page, 'Send the refund').click();
    await page.getByText('The refund was created').waitFor();
    await dialog.getByText('Close', { exact: true }).click();
  }

  async function payOut(page: Page, { asset, quarter, paidTo }: Sold): Promise<void> {
    await goTo(page, `/payouts/new?asset=${asset}`);
    await page.getByLabel('Amount').fill(quarter);
    await page.getByRole('textbox', { name: 'Address' }).fill(paidTo);
    await page.getByLabel('Your reference').fill(`rent-${asset}`);
    await button(page, 'Check the payout').click();
    await button(page, `Send ${quarter} ${ASSETS[asset]}`).click();
    await page.getByText('What has happened').waitFor();
  }

  /** The rows of the file that a page saves, each by the names of its columns. */
  async function csvOf(page: Page, path: string): Promise<Record<string, string>[]> {
    await goTo(page, path);
    const downloading = page.waitForEvent('download');
    await button(page, 'CSV').click();
    const text = (await (await (await downloading).createReadStream()).toArray()).join('');
    const [head = [], ...rows] = text
      .trim()
      .split('\r\n')
      .map((line) => line.split(','));
    return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? ''])));
  }

  const invoiceIdOf = (url: string) => url.split('/').at(-1) ?? '';

  test(
    'is made for bitcoin, ether, a token and sol by somebody who was only invited: paid, refunded in part, paid out, exported',
    async () => {
      const visit = await open(quittance.url);
      const { page } = visit;
      noteRequests(quittance, shop, page);
      await signUp(visit);
      const urls: [Asset, string][] = [];
      for (const asset of Object.keys(ASSETS) as Asset[])
        urls.push([asset, await createInvoice(page, asset)]);
      const sold: Sold[] = await Promise.all(
        urls.map(async ([asset, url]) => {
          const due = await pay(url, asset);
          const quarter = formatUnits(units(unitsOf(asset, due) / 4n), assets[asset].decimals);
          const [refundedTo, paidTo] = await Promise.all([
            customerOf(asset).newAddress(),
            customerOf(asset).newAddress(),
          ]);
          return { asset, id: invoiceIdOf(url), due, quarter, refundedTo, paidTo };
        }),
      );
      for (const sale of sold) {
        await refundPart(page, sale);
        await payOut(page, sale);
      }
      await mined(async () => {
        for (const { asset, quarter, refundedTo, paidTo } of sold)
          for (const to of [refundedTo, paidTo])
            expect([asset, await customerOf(asset).balance(asset, to)]).toEqual([
              asset,
              unitsOf(asset, quarter),
            ]);
      });
      await goTo(page, '/payouts');
      await mined(async () =>
        expect(await page.getByRole('cell', { name: 'mined', exact: true }).count()).toBe(8),
      );

      const [invoices, payouts, transactions] = [
        await csvOf(page, '/invoices'),
        await csvOf(page, '/payouts'),
        await csvOf(page, '/balance-transactions'),
      ];
      for (const { asset, id, due, quarter, refundedTo, paidTo } of sold) {
        expect(invoices).toContainEqual(
          expect.objectContaining({
            ...{ id, asset, external_id: `order-${asset}`, status: 'paid', amount_fiat: '300.00' },
            ...{ credited_amount: due, refunded_amount: quarter },
          }),
        );
        const mine = payouts.filter((row) => row['asset'] === asset);
        const paid = { status: 'mined', amount_paid: quarter, tx_hash: expect.stringMatching(/./) };
        expect(mine).toHaveLength(2);
        expect(mine).toContainEqual(
          expect.objectContaining({ ...paid, to_address: asShown(asset, refundedTo), invoice_id: id }),
        );
        expect(mine).toContainEqual(
          expect.objectContaining({ ...paid, to_address: asShown(asset, paidTo), invoice_id: '' }),
        );
        const moved = transactions.filter((row) => row['asset'] === asset);
        expect(moved.map(({ type, amount }) => [type, amount]).sort()).toEqual([
          ['payment', due],
          ['payout', `-${quarter}`],
          ['refund', `-${quarter}`],
        ]);
      }
    },
    patient(ALL_WITHIN_MS),
  );
}
