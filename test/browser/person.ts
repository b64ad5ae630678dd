import { expect } from '@jest/globals';
import type { Visit } from '@quittance/browser/visit';
import { inviteAsOperator } from '@quittance/gateway/operations/operators-people';
import { systemClock } from '@quittance/shared/clock';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Page } from 'playwright-core';

export type DashboardPerson = { email: string; password: string; name: string };

type Role = Parameters<typeof inviteAsOperator>[1]['role'];

export const PASSWORD = 'three words and a comma';
let people = 0;

/** Somebody of an account, with a role. */
export async function dashboardPerson(
  quittance: Quittance,
  { id: account }: Pick<Merchant, 'id'>,
  name: string,
  role: Role = 'owner',
): Promise<DashboardPerson> {
  const person = { email: `person${++people}@shop.example`, password: PASSWORD, name };
  const token = await invite(quittance, account, person.email, role);
  await send(quittance, '/api/invitations/accept', { token, name, password: person.password });
  return person;
}

/** Invites as the operator does; answers the token. */
export async function invite(
  { stack }: Quittance,
  account: string,
  email: string,
  role: Role,
): Promise<string> {
  const url = stack.settingsOf('gateway')['DATABASE_URL'] ?? '';
  const db = openDb({ url, schema: 'gateway', pool: 1, logger: createLogger('test', 'warn') });
  try {
    const invited = await inviteAsOperator(
      { db, clock: systemClock },
      { account, email, role, actor: 'test' },
    );
    if (!invited.ok) throw new Error(`the person was not invited: ${invited.refusal}`);
    return invited.value.token;
  } finally {
    await db.close();
  }
}

async function send({ url }: Quittance, path: string, body: object): Promise<void> {
  const headers = {
    'Content-Type': 'application/json',
    Origin: new URL(url).origin,
  };
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
}

/** Opens a page of the dashboard as somebody who has signed in: the browser asks for the session without the form. */
export async function openAs(
  { page }: Pick<Visit, 'page'>,
  { url }: Quittance,
  { email, password }: Pick<DashboardPerson, 'email' | 'password'>,
  path = '/',
): Promise<void> {
  const headers = { origin: new URL(url).origin };
  const answer = await page.request.post(`${url}/api/session`, { data: { email, password }, headers });
  if (answer.status() !== 201) throw new Error(`the sign-in answered ${answer.status()}`);
  await page.goto(`${url}/dashboard${path}`);
  await isSignedIn(page);
}

const TITLE_AND_IS_LOADING = `[
  document.title,
  document.evaluate('boolean(//*[@aria-label="Loading" or normalize-space(text())="Loading"])', document, null, XPathResult.BOOLEAN_TYPE).booleanValue,
]`;

/** Goes to a page of the dashboard as its links do, without loading the document again, and waits until all of it is there. */
export async function goTo(page: Page, path: string): Promise<void> {
  const before = await page.title();
  await page.evaluate(`history.pushState(null, '', '/dashboard${path}')`);
  await eventually(async () => {
    const [title, isLoading] = await page.evaluate<[string, boolean]>(TITLE_AND_IS_LOADING);
    expect([path, title]).not.toEqual([path, before]);
    expect([path, isLoading]).toEqual([path, false]);
  });
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
}

/** Opens a page of the dashboard, and signs in on the way. */
export async function signIn(
  { page, expectProblem }: Visit,
  { url }: Quittance,
  person: Pick<DashboardPerson, 'email' | 'password'>,
  path = '/',
): Promise<void> {
  // Until somebody has signed in, the page asks who it is, and the browser reports the answer.
  expectProblem(/status of 401 .*\/api\/me$/);
  await page.goto(`${url}/dashboard${path}`);
  await typeSignIn(page, person);
  await isSignedIn(page);
}

/** Fills in the form of the sign-in that a page shows, and sends it. */
export async function typeSignIn(
  page: Page,
  { email, password }: Pick<DashboardPerson, 'email' | 'password'>,
): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** The page is one of somebody who has signed in. */
export const isSignedIn = (page: Page): Promise<void> =>
  page.getByRole('button', { name: /account and sign-out/ }).waitFor();

/** What the browser is answered to its payouts is compared with the database as well, as what merchants are. */
export const noteRequests = (
  { clientLog }: Quittance,
  { id: account }: Pick<Merchant, 'id'>,
  page: Page,
): void =>
  void page.on('response', async (response) => {
    const request = response.request();
    const { pathname: path } = new URL(response.url());
    if (request.method() !== 'POST' || path !== '/api/payouts') return;
    const key = request.headers()['idempotency-key'];
    const [body, status, answer] = [request.postData() ?? '', response.status(), await response.json()];
    clientLog.push({
      ...{ account, method: 'POST', path, body, status, answer },
      ...(key === undefined ? {} : { key }),
    });
  });
