import { beforeAll, expect, test } from '@jest/globals';
import type { Open } from '@quittance/browser/in-browser';
import { readQrCode } from '@quittance/browser/qr-code';
import type { Visit } from '@quittance/browser/visit';
import { bytesOfBase32 } from '@quittance/testkit/base32';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Page } from 'playwright-core';
import { totpCode } from '../../../services/gateway/src/totp.ts';
import type { OnStack } from '../on-stack.ts';
import {
  type DashboardPerson,
  dashboardPerson,
  goTo,
  isSignedIn,
  PASSWORD,
  signIn,
  typeSignIn,
} from '../person.ts';

/** Who may sign in to an account, with what, and for how long: as the people themselves see it. */

const STEP_MS = 30_000;

export function peopleCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  let shop: Merchant;
  let owner: DashboardPerson;
  beforeAll(async () => {
    quittance = stack();
    shop = await quittance.merchant();
    owner = await dashboardPerson(quittance, shop, 'Olivia');
  });

  async function see(
    path: string,
    person: Pick<DashboardPerson, 'email' | 'password'> = owner,
  ): Promise<Visit> {
    const visit = await open(quittance.url);
    await signIn(visit, quittance, person, path);
    return visit;
  }
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const menu = (page: Page) => page.getByRole('navigation').getByRole('link').allTextContents();
  const sessionHasEnded = (page: Page) => page.getByText('Your session has ended').waitFor();
  const invoicesWith = async (reference: string) =>
    (await shop.get(`/api/invoices?external_id=${reference}`)).body.data as unknown[];

  test('an invited person is shown and may do what the role allows, and more after the owner has changed it', async () => {
    const { page } = await see('/people');
    await button(page, 'Invite somebody').click();
    await page.getByRole('dialog').getByLabel('E-mail address').fill('vera@shop.example');
    await page.getByRole('dialog').getByRole('combobox', { name: 'Role' }).click();
    await page.getByRole('option', { name: 'viewer' }).click();
    await button(page, 'Invite').click();
    const shown = page.getByText(/#invitation=[\w-]+$/);
    const link = (await shown.textContent()) ?? '';
    await button(page, 'I have kept it').click();
    await shown.waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(link.split('=')[1]);

    const invited = await open(quittance.url);
    invited.expectProblem(/401/);
    invited.expectProblem(/403/);
    await invited.page.goto(link);
    await invited.page.getByLabel('Your name').fill('Vera <b>V.</b>');
    await invited.page.getByRole('textbox', { name: 'A password' }).fill(PASSWORD);
    await invited.page.getByRole('textbox', { name: 'The password again' }).fill(`${PASSWORD}!`);
    await button(invited.page, 'Accept').click();
    await invited.page.getByText('This is another password').waitFor();
    await invited.page.getByRole('textbox', { name: 'The password again' }).fill(PASSWORD);
    await button(invited.page, 'Accept').click();
    await button(invited.page, 'Sign in').click();
    const vera = { email: 'vera@shop.example', password: PASSWORD };
    await typeSignIn(invited.page, vera);
    await isSignedIn(invited.page);
    const places = await menu(invited.page);
    expect(places).toEqual(expect.arrayContaining(['Invoices', 'Balances', 'Shop', 'Your sign-in']));
    for (const closed of ['API tokens', 'Webhooks', 'People', 'Audit log', 'Chains'])
      expect(places).not.toContain(closed);
    await goTo(invited.page, '/invoices');
    await invited.page.getByText('No invoices yet').waitFor();
    expect(await invited.page.getByRole('link', { name: 'New invoice' }).count()).toBe(0);
    await goTo(invited.page, '/invoices/new');
    await invited.page.getByLabel('Price').fill('25');
    await invited.page.getByLabel('Your reference').fill('of-a-viewer');
    await button(invited.page, 'Create invoice').click();
    await invited.page.getByRole('alert').waitFor();
    expect(await invoicesWith('of-a-viewer')).toEqual([]);

    await page.reload();
    await page.getByText('Vera <b>V.</b>').waitFor();
    await page.getByRole('combobox', { name: 'Role of Vera <b>V.</b>' }).click();
    await page.getByRole('option', { name: 'developer' }).click();
    await button(page, 'Change').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Change' }).click();
    await page.getByText('Vera <b>V.</b> is developer now').waitFor();
    // Whatever was open with the former role is so no more.
    await button(invited.page, 'Create invoice').click();
    await sessionHasEnded(invited.page);
    await typeSignIn(invited.page, vera);
    await isSignedIn(invited.page);
    expect(await menu(invited.page)).toEqual(expect.arrayContaining(['API tokens', 'Webhooks']));
    expect(await menu(invited.page)).not.toContain('People');
  });

  test('a session that was ended from another device sends nothing more, and asks who it is', async () => {
    const lost = await see('/invoices/new');
    lost.expectProblem(/401/);
    await lost.page.getByLabel('Price').fill('25');
    await lost.page.getByLabel('Your reference').fill('half-sent');
    const { page } = await see('/security');
    await button(page, 'End all others').click();
    await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await button(lost.page, 'Create invoice').click();
    await sessionHasEnded(lost.page);
    expect(await lost.page.content()).not.toContain('half-sent');
    expect(await invoicesWith('half-sent')).toEqual([]);
    await typeSignIn(lost.page, owner);
    await isSignedIn(lost.page);
    expect(new URL(lost.page.url()).pathname).toBe('/dashboard/invoices/new');
    expect(await invoicesWith('half-sent')).toEqual([]);
  });

  test('whoever signs out in one window is signed out in the others at once', async () => {
    const { page } = await see('/invoices');
    const other = await page.context().newPage();
    await other.goto(`${quittance.url}/dashboard/balances`);
    await isSignedIn(other);
    await page.getByRole('button', { name: /account and sign-out/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await sessionHasEnded(other);
    expect(await other.getByRole('navigation').count()).toBe(0);
  });

  test('codes of an app are set up from a QR code, are then asked for, and prove who it is before a token is made', async () => {
    const person = await dashboardPerson(quittance, shop, 'Tom');
    const visit = await see('/security', person);
    const { page } = visit;
    visit.expectProblem(/401/);
    visit.expectProblem(/403/);
    await button(page, 'Set up codes').click();
    const uri = new URL(await readQrCode(page.getByRole('img', { name: 'The secret as a QR code' })));
    const secret = bytesOfBase32(uri.searchParams.get('secret') ?? '');
    // Each code counts once: the one of the next step is for later.
    const step = Math.floor(Date.now() / STEP_MS);
    await page.getByLabel('First code of the app').fill(totpCode(secret, step));
    await button(page, 'Confirm').click();
    await page.getByText('Your recovery codes').waitFor();
    const [recovery = '', ...others] = await page
      .getByText(/^(?:[a-z2-7]{4}-){5}[a-z2-7]{4}$/)
      .allTextContents();
    expect(others).toHaveLength(9);
    await button(page, 'I have kept them').click();

    await page.getByRole('button', { name: /account and sign-out/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await typeSignIn(page, person);
    await page.getByLabel('Code of your app').fill(recovery);
    await button(page, 'Sign in').click();
    await isSignedIn(page);
    await page.getByText('You have 9 recovery codes left').waitFor();

    await quittance.db.rows(
      `update gateway.sessions set stepped_up_at = now() - interval '11 minutes'
       where person_id = (select id from gateway.people where email = $1)`,
      [person.email],
    );
    await page.goto(`${quittance.url}/dashboard/tokens`);
    await button(page, 'Create a token').click();
    await page.getByLabel('Name').fill('after a step-up');
    await page.getByRole('button', { name: /^Shop/ }).click();
    await button(page, 'Create').click();
    const isIt = page.getByRole('dialog', { name: 'Is it you?' });
    const tokens = async () =>
      ((await shop.get('/api/tokens')).body.data as { name: string }[]).map(({ name }) => name);
    await isIt.waitFor();
    expect(await tokens()).not.toContain('after a step-up');
    await isIt.getByRole('textbox', { name: 'Password' }).fill(person.password);
    await isIt.getByLabel('Code of your app').fill(totpCode(secret, step + 1));
    await button(page, 'Go on').click();
    await page.getByText(/^qt_[0-9A-Za-z]{49}$/).waitFor();
    expect(await tokens()).toContain('after a step-up');
  });

  test('without a connection it says so and keeps what was typed, sends nothing by itself, and goes on where it was', async () => {
    const visit = await see('/invoices/new');
    const { page } = visit;
    visit.expectProblem(/ERR_INTERNET_DISCONNECTED/);
    await page.evaluate('window.isFirst = true');
    const away = page.getByText('What you see is as it was');
    await page.getByLabel('Price').fill('64.20');
    await page.getByLabel('Your reference').fill('typed-away');
    await page.context().setOffline(true);
    await away.waitFor();
    await button(page, 'Create invoice').click();
    await page.getByText('It is not known whether').waitFor();
    expect(await page.getByLabel('Your reference').inputValue()).toBe('typed-away');
    await page.context().setOffline(false);
    await away.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Price').inputValue()).toBe('64.20');
    expect(await invoicesWith('typed-away')).toEqual([]);
    await button(page, 'Create invoice').click();
    await page.getByText('The invoice was created').waitFor();
    expect(await invoicesWith('typed-away')).toHaveLength(1);
    expect(await page.evaluate('window.isFirst')).toBe(true);
  });

  test('a list that was open without a connection shows by itself what has come since', async () => {
    const visit = await see('/invoices');
    const { page } = visit;
    visit.expectProblem(/ERR_INTERNET_DISCONNECTED/);
    await page.evaluate('window.isFirst = true');
    await page.getByText('Columns').waitFor();
    await page.context().setOffline(true);
    await page.getByText('No connection').waitFor();
    await page.getByLabel('Search').fill('made');
    await page.getByText('The server cannot be reached').waitFor();
    await shop.post('/api/invoices', { asset: 'ETH', amount: 25, external_id: 'made-elsewhere' });
    expect(await page.getByText('made-elsewhere').count()).toBe(0);
    await page.context().setOffline(false);
    await page.getByText('made-elsewhere').waitFor();
    for (const past of ['No connection', 'The server cannot be reached'])
      await page.getByText(past).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Search').inputValue()).toBe('made');
    expect(await page.evaluate('window.isFirst')).toBe(true);
  });
}
