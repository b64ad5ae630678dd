import { beforeAll, expect, test } from '@jest/globals';
import type { Open } from '@quittance/browser/in-browser';
import type { Visit } from '@quittance/browser/visit';
import type { Look } from '@quittance/browser/windows';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Page } from 'playwright-core';
import { CONFIRMATIONS, type OnStack } from '../on-stack.ts';
import { type DashboardPerson, dashboardPerson, noteRequests, openAs } from '../person.ts';

/** Money out and the records of the ledger, as people of an account see them in a browser. */

const RECIPIENT = '0x52908400098527886E0F7030069857D2E4169EE7';
/** Its check sum is wrong, which only the API can tell. */
const MISSPELT = '0x52908400098527886E0F7030069857D2E4169Ee7';

type Made = { id: string; amount: string; address: { address: string } };

export function moneyOutCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  let shop: Merchant;
  let owner: DashboardPerson;
  beforeAll(async () => {
    quittance = stack();
    shop = await quittance.merchant();
    owner = await dashboardPerson(quittance, shop, 'Olga');
    await received(20_000);
  });

  async function made(dollars: number): Promise<Made> {
    return (await shop.post('/api/invoices', { asset: 'ETH', amount: dollars })).body.data;
  }
  async function received(dollars: number): Promise<Made> {
    const invoice = await made(dollars);
    await quittance.ethereum.pay('ETH', invoice.address.address, invoice.amount);
    await quittance.ethereum.mine(CONFIRMATIONS + 1);
    await eventually(async () =>
      expect((await shop.get(`/api/invoices/${invoice.id}`)).body.status).toBe('paid'),
    );
    return invoice;
  }
  async function see(path: string, person = owner, look: Look = {}): Promise<Visit> {
    const visit = await open(quittance.url, look);
    noteRequests(quittance, shop, visit.page);
    await openAs(visit, quittance, person, path);
    return visit;
  }
  const payoutsWith = async (reference: string) =>
    (await shop.get(`/api/payouts?external_id=${reference}`)).body.data as { id: number; status: string }[];
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });

  async function fill(page: Page, { amount, address = RECIPIENT, reference = '' }: Record<string, string>) {
    await page.getByLabel('Amount').fill(amount ?? '');
    await page.getByRole('textbox', { name: 'Address' }).fill(address);
    await page.getByLabel('Your reference').fill(reference);
    await button(page, 'Check the payout').click();
  }

  async function untilMined(reference: string): Promise<void> {
    await eventually(async () => {
      await quittance.ethereum.mine();
      expect(await payoutsWith(reference)).toMatchObject([{ status: 'mined' }]);
    });
  }

  test('a payout whose answer was lost is sent again as the same request, and pays once', async () => {
    const { page, expectProblem } = await see('/payouts/new?asset=ETH');
    await fill(page, { amount: '0.5', address: RECIPIENT.toLowerCase(), reference: 'lost' });
    await button(page, 'Send 0.5 ETH').waitFor();
    const sent: { key: string | undefined; body: string | null }[] = [];
    await page.route('**/api/payouts', async (route) => {
      const request = route.request();
      if (request.method() !== 'POST') return await route.continue();
      sent.push({ key: request.headers()['idempotency-key'], body: request.postData() });
      if (sent.length > 1) return await route.continue();
      expectProblem(/api\/payouts/);
      await route.fetch();
      await route.abort();
    });
    await button(page, 'Send 0.5 ETH').click();
    await page.getByText('It is not known whether').waitFor();
    expect(await payoutsWith('lost')).toHaveLength(1);
    expect(await button(page, 'Change').isDisabled()).toBe(true);
    await button(page, 'Send 0.5 ETH').click();
    await page.getByText('What has happened').waitFor();
    expect(sent[0]?.key).toEqual(expect.any(String));
    expect(sent).toEqual([sent[0], sent[0]]);
    const [only, ...others] = await payoutsWith('lost');
    expect(others).toEqual([]);
    expect(new URL(page.url()).pathname).toBe(`/dashboard/payouts/${only?.id}`);
    await untilMined('lost');
  });

  test('a payout is not sent at another fee than the one that is shown', async () => {
    const { page } = await see('/payouts/new?asset=ETH');
    await page.clock.install();
    await fill(page, { amount: '0.25', reference: 'dearer' });
    await button(page, 'Send 0.25 ETH').waitFor();
    await page.route('**/api/payouts/quote*', async (route) => {
      const response = await route.fetch();
      const quote = { ...(await response.json()), network_fee: '0.125', total: '0.375' };
      await route.fulfill({ response, json: quote });
    });
    await page.clock.fastForward(61_000);
    await page.getByText('The quote has changed').waitFor();
    expect(await button(page, 'Send 0.25 ETH').isDisabled()).toBe(true);
    await button(page, 'Show it with the new quote').click();
    await page.getByText('The quote has changed').waitFor({ state: 'detached' });
    await page.getByText('0.375 ETH').waitFor();
    expect(await button(page, 'Send 0.25 ETH').isEnabled()).toBe(true);
    expect(await payoutsWith('dearer')).toEqual([]);
  });

  test('a payout above the limit waits until another person has approved it', async () => {
    const limits = [{ asset: 'ETH', approval_above: '0.9', approvals: 1 }];
    expect((await shop.put('/api/payout-policy', { delay_hours: 0, limits })).status).toBe(200);
    const admin = await dashboardPerson(quittance, shop, 'Anna', 'admin');
    const viewer = await dashboardPerson(quittance, shop, 'Vera', 'viewer');

    const { page } = await see('/payouts/new?asset=ETH');
    await fill(page, { amount: '1', reference: 'large' });
    await page.getByText('it waits until somebody else has approved it').waitFor();
    await button(page, 'Send 1 ETH').click();
    await page.getByText('You have requested it, so somebody else must approve it').waitFor();
    expect(await button(page, 'Approve').count()).toBe(0);
    const [payout] = await payoutsWith('large');

    const { page: looksOnly } = await see(`/payouts/${payout?.id}`, viewer);
    await looksOnly.getByText('Your role does not approve payouts').waitFor();
    expect(await looksOnly.getByRole('button', { name: /^(?:Approve|Reject|Cancel)$/ }).count()).toBe(0);

    const { page: second } = await see('/payouts?approval=waiting', admin);
    await button(second, 'Approve').click();
    const dialog = second.getByRole('dialog');
    await dialog.getByText('Approve this payout?').waitFor();
    expect(await dialog.textContent()).toContain(RECIPIENT);
    expect(await payoutsWith('large')).toMatchObject([
      { status: 'pending', approval: { status: 'waiting' } },
    ]);
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await second.getByText('The payout is approved').waitFor();
    expect(await payoutsWith('large')).toMatchObject([{ approval: { status: 'approved' } }]);
    await untilMined('large');
  });

  test('a file of payouts says what is wrong with each line, and pays nothing before all of it is right', async () => {
    const { page, expectProblem } = await see('/payout-batches/new');
    const choose = (...rows: string[]) =>
      page.locator('input[type=file]').setInputFiles({
        name: 'salaries.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(['asset,amount,address,external_id', ...rows].join('\r\n')),
      });
    await choose(`ETH,0.1,${RECIPIENT},b-1`, `ETH,abc,${RECIPIENT},b-2`, 'ETH,0.1,0x12,b-3');
    await page.getByText('2 of 3 lines are wrong').waitFor();
    await page.getByText('The amount must be a number').waitFor();
    await page.getByText('The address is none of this network').waitFor();
    expect(await button(page, 'Send 3 payouts').isDisabled()).toBe(true);

    await choose(`ETH,0.1,${RECIPIENT},b-1`, `ETH,0.1,${MISSPELT},b-2`);
    expectProblem(/422/);
    await button(page, 'Send 2 payouts').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send 2 payouts' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByText('The selected address is invalid').waitFor();
    expect(await payoutsWith('b-1')).toEqual([]);

    await choose(`ETH,0.1,${RECIPIENT},b-1`, `ETH,0.1,${RECIPIENT},b-2`);
    await button(page, 'Send 2 payouts').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send 2 payouts' }).click();
    await page.getByText('2 created').waitFor();
    await untilMined('b-1');
    await untilMined('b-2');
  });

  test('the statement of a month agrees with what was paid, also as a file', async () => {
    const { page } = await see('/statements?asset=ETH');
    const closing = page.getByRole('row').filter({ hasText: 'Closing balance' });
    await closing.waitFor();
    const [balance] = (await shop.get('/api/balances')).body.data.filter(
      ({ asset }: { asset: { symbol: string } }) => asset.symbol === 'ETH',
    );
    expect(await closing.textContent()).toContain(balance.balance);
    const downloading = page.waitForEvent('download');
    await button(page, 'CSV').click();
    const stream = await (await downloading).createReadStream();
    const file = (await stream.toArray()).join('');
    expect(file).toContain('closing_balance');
    expect(file).toContain(balance.balance);
  });

  test('a refund that was begun is not of the next invoice that somebody goes to, and the focus goes back after a dialog', async () => {
    const [first, second] = [await received(25), await made(25)];
    const { page } = await see(`/invoices/${second.id}`);
    const goTo = async ({ id }: Made) => {
      await page.keyboard.press('Control+k');
      const field = page.getByPlaceholder('A page, or the id of an invoice');
      await field.fill(id);
      await field.press('Enter');
      await page.waitForURL(`**/invoices/${id}`);
    };
    const cancel = button(page, 'Cancel invoice');
    await cancel.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It cannot be paid any more').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await cancel.and(page.locator(':focus')).waitFor();
    // Both invoices are known to the page then.
    await goTo(first);
    await button(page, 'Refund').click();
    await button(page, 'Go on').click();
    await dialog.getByText(`${first.amount} ETH`).first().waitFor();
    await goTo(second);
    await cancel.waitFor();
    expect(await button(page, 'Create the claim link').count()).toBe(0);
    await goTo(first);
    await button(page, 'Refund').waitFor();
    expect(await button(page, 'Create the claim link').count()).toBe(0);
  });
}
