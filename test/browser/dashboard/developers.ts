import { beforeAll, expect, test } from '@jest/globals';
import { expectNoSidewaysScroll } from '@quittance/browser/expect-page';
import type { Open } from '@quittance/browser/in-browser';
import { eventually } from '@quittance/testkit/eventually';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Route } from 'playwright-core';
import { quittanceCommand } from '../../e2e/shop/on-stack.ts';
import type { OnStack } from '../on-stack.ts';
import { type DashboardPerson, dashboardPerson, openAs } from '../person.ts';

/** What a developer does in the dashboard, on a stack: tokens, and two windows of one browser. */

export function developerCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  beforeAll(async () => {
    quittance = stack();
  });

  async function send(path: string, body: object, cookie = ''): Promise<Response> {
    const headers = { 'content-type': 'application/json', origin: new URL(quittance.url).origin, cookie };
    const answer = await fetch(`${quittance.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  }

  /** Makes somebody of one account a person of another. */
  async function join({ email, password }: DashboardPerson, account: string): Promise<void> {
    const { out } = await quittanceCommand(quittance, { DATABASE_URL_ADMIN: quittance.stack.adminUrl }, [
      ...['people', 'invite', '--account', account, '--email', email, '--role', 'owner', '--json'],
    ]);
    const { token } = JSON.parse(out) as { token: string };
    const cookie = (await send('/api/session', { email, password })).headers.get('set-cookie')?.split(';')[0];
    await send('/api/invitations/accept', { token }, cookie);
  }

  test('creates a token that may do what was chosen, and shows it once', async () => {
    const person = await dashboardPerson(quittance, await quittance.merchant(), 'Anna');
    const visit = await open(quittance.url, { window: 'phone' });
    const { page } = visit;
    await openAs(visit, quittance, person, '/tokens');
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByLabel('Name').fill('My <b>shop</b>');
    await page.getByRole('button', { name: /^Shop/ }).click();
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
  });

  test('says what the API refuses of a token while the list of tokens cannot be read', async () => {
    const person = await dashboardPerson(quittance, await quittance.merchant(), 'Cleo');
    const visit = await open(quittance.url);
    const { page } = visit;
    visit.expectProblem(/422/);
    await openAs(visit, quittance, person, '/tokens');
    await page.getByRole('row').filter({ hasText: 'qt_' }).first().waitFor();
    const unanswered: Route[] = [];
    await page.route('**/api/tokens*', (route) =>
      route.request().method() === 'GET' ? void unanswered.push(route) : route.continue(),
    );
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByLabel('Name').fill('a'.repeat(1_000));
    await page.getByRole('button', { name: /^Shop/ }).click();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('The name must not be greater than').waitFor();
    await eventually(() => expect(unanswered).not.toEqual([]));
    const create = page.getByRole('button', { name: 'Create', exact: true });
    await eventually(async () => expect(await create.isEnabled()).toBe(true));
    await page.getByLabel('Name').fill('short');
    await create.click();
    await page.getByText(/^qt_[0-9A-Za-z]{49}$/).waitFor();
  });

  test('a window whose account was changed elsewhere does nothing for the other account, and shows it', async () => {
    const [first, second] = [await quittance.merchant(), await quittance.merchant()];
    const person = await dashboardPerson(quittance, first, 'Ben');
    await join(person, second.id);
    const visit = await open(quittance.url);
    const { page } = visit;
    visit.expectProblem(/409/);
    await openAs(visit, quittance, person, '/tokens');
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByLabel('Name').fill('for the first account');
    await page.getByRole('button', { name: /^Shop/ }).click();

    // The windows of a browser have their cookies together.
    const other = await page.request.post(`${quittance.url}/api/session`, {
      data: { email: person.email, password: person.password, account_id: second.id },
      headers: { origin: new URL(quittance.url).origin },
    });
    expect(other.status()).toBe(201);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('This window now shows').waitFor();
    expect(await page.getByText('for the first account').count()).toBe(0);
    for (const account of [first, second]) {
      const { body } = await account.get('/api/tokens');
      expect(body.data).not.toEqual([]);
      expect(body.data.map((token: { name: string }) => token.name)).not.toContain('for the first account');
    }
  });
}
