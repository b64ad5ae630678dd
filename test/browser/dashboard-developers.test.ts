import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectNoAxeFindings, expectNoSidewaysScroll } from '@quittance/browser/expect-page';
import { inBrowser } from '@quittance/browser/in-browser';
import { STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { NOBODY_SIGNED_IN, ownerOf, signInAt, signInByApi } from './dashboard-person.ts';

/** What a developer does in the dashboard, on a stack: tokens, and two windows of one browser. */

await inBrowser('the dashboard for developers', (open) => {
  let quittance: Quittance;
  beforeAll(async () => {
    quittance = await startQuittance({
      together: ['gateway', 'invoices', 'payouts', 'ledger', 'webhooks'],
      chains: [],
      quiet: true,
    });
  }, STACK_STARTED_WITHIN_MS);
  afterAll(() => quittance?.stop());

  const at = (path: string) => `${quittance.url}/dashboard${path}`;

  test('creates a token that may do what was chosen, and shows it once', async () => {
    const account = await quittance.merchant();
    const person = await ownerOf(quittance, account.id);
    const { page, expectProblem } = await open(quittance.url, { window: 'phone' });
    expectProblem(NOBODY_SIGNED_IN);
    await signInAt(page, at('/tokens'), person);
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByLabel('Name').fill('My <b>shop</b>');
    await page.getByRole('button', { name: /^Shop/ }).click();
    await expectNoAxeFindings(page);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const shown = page.getByText(/^qt_[0-9A-Za-z]{49}$/);
    const token = (await shown.textContent()) ?? '';

    const statusOf = async (path: string) =>
      (await fetch(`${quittance.url}${path}`, { headers: { Authorization: `Bearer ${token}` } })).status;
    expect(await statusOf('/api/invoices')).toBe(200);
    expect(await statusOf('/api/payouts')).toBe(403);

    await page.getByRole('button', { name: 'I have kept it' }).click();
    await shown.waitFor({ state: 'detached' });
    await page.getByText('My <b>shop</b>').waitFor();
    expect(await page.content()).not.toContain(token);
    await expectNoSidewaysScroll(page);
    await expectNoAxeFindings(page);
  });

  test('a window whose account was changed elsewhere does nothing for the other account, and shows it', async () => {
    const [first, second] = [await quittance.merchant(), await quittance.merchant()];
    const person = await ownerOf(quittance, first.id, second.id);
    const { page, expectProblem } = await open(quittance.url);
    expectProblem(NOBODY_SIGNED_IN);
    expectProblem(/status of 409/);
    await signInAt(page, at('/tokens'), person);
    await page.getByText('There are no API tokens').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByLabel('Name').fill('for the first account');
    await page.getByRole('button', { name: /^Shop/ }).click();

    const cookie = await signInByApi(quittance, person, second.id);
    const [name = '', value = ''] = cookie.split('=');
    await page.context().addCookies([{ name, value, url: quittance.url, secure: true }]);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('This window now shows').waitFor();
    expect(await page.getByText('for the first account').count()).toBe(0);
    for (const account of [first, second]) {
      const { body } = await account.get('/api/tokens');
      expect(body.data.map((token: { name: string }) => token.name)).not.toContain('for the first account');
    }
  });
});
