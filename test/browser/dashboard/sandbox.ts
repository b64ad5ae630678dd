import { beforeAll, expect, test } from '@jest/globals';
import type { Open } from '@quittance/browser/in-browser';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Page } from 'playwright-core';
import type { OnStack } from '../on-stack.ts';
import { type DashboardPerson, dashboardPerson, signIn } from '../person.ts';

/** The dashboard of a sandbox, which is opened at `localhost`: passkeys of a virtual authenticator, and test money. */

export function sandboxCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  let shop: Merchant;
  let owner: DashboardPerson;
  beforeAll(async () => {
    quittance = stack();
    shop = await quittance.merchant();
    owner = await dashboardPerson(quittance, shop, 'Olga');
  });

  const accountMenu = (page: Page) => page.getByRole('button', { name: /account and sign-out/ });

  /** A device with a fingerprint reader, whose person always agrees. */
  async function addAuthenticator(page: Page) {
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('WebAuthn.enable');
    const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal' },
        ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      },
    });
    return async () => {
      const { credentials } = await devTools.send('WebAuthn.getCredentials', { authenticatorId });
      return credentials.map(({ rpId, signCount }) => ({ rpId, signCount }));
    };
  }

  test('a passkey is added, and signs in without a password', async () => {
    const visit = await open(quittance.url);
    const { page } = visit;
    const credentials = await addAuthenticator(page);
    await signIn(visit, quittance, owner, '/security');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('My laptop');
    await dialog.getByRole('button', { name: 'Add a passkey' }).click();
    const row = page.getByRole('row').filter({ hasText: 'My laptop' });
    await row.getByText('never').waitFor();
    expect(await credentials()).toEqual([{ rpId: 'localhost', signCount: 1 }]);

    await accountMenu(page).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await accountMenu(page).waitFor();
    expect(await credentials()).toEqual([{ rpId: 'localhost', signCount: 2 }]);
    await page.goto(`${quittance.url}/dashboard/security`);
    await row.waitFor();
    expect(await row.textContent()).not.toContain('never');
  });

  test('a passkey that the gateway does not know signs nobody in', async () => {
    const visit = await open(quittance.url);
    const { page, expectProblem } = visit;
    await addAuthenticator(page);
    await signIn(visit, quittance, owner, '/security');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Lost phone');
    await dialog.getByRole('button', { name: 'Add a passkey' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Lost phone' });
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'hidden' });
    await accountMenu(page).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    expectProblem(/status of 401 .*\/api\/session\/passkey$/);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('The passkey is not accepted').waitFor();
    expect(await accountMenu(page).count()).toBe(0);
  });

  test('who opens it by the address of the machine is told its name', async () => {
    const address = quittance.url.replace('localhost', '127.0.0.1');
    const { page, expectProblem } = await open(address);
    expectProblem(/status of 401 .*\/api\/me$/);
    expectProblem(/status of 403 .*\/api\/session$/);
    await page.goto(`${address}/dashboard/`);
    await page.getByLabel('E-mail address').fill(owner.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(owner.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText(`which is at ${quittance.url}`).waitFor();
  });

  test('an invoice is paid with test money by a click on Home', async () => {
    const { data } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 25 })).body;
    const visit = await open(quittance.url);
    const { page } = visit;
    await signIn(visit, quittance, owner);
    await page.getByRole('button', { name: `Pay ${data.amount} ETH with test money` }).click();
    await page.getByText('of test money were sent').waitFor();
    await eventually(async () => {
      await quittance.ethereum.mine();
      const { body } = await shop.get(`/api/invoices/${data.id}`);
      expect(body).toMatchObject({ status: 'paid', paid_amount: data.amount });
    });
  });
}
