import type { Visit } from '@quittance/browser/visit';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { quittanceCommand } from '../e2e/shop/on-stack.ts';

/** Somebody who signs in to the dashboard. */
export type DashboardPerson = { email: string; password: string };

const PASSWORD = 'three words and a comma';

/** A person of an account, who has accepted the invitation of the operator. */
export async function dashboardPerson(
  quittance: Quittance,
  { id: account }: Pick<Merchant, 'id'>,
  name: string,
  role: 'owner' | 'admin' | 'developer' | 'accountant' | 'viewer' = 'owner',
): Promise<DashboardPerson> {
  const email = `${name.toLowerCase()}.${account.slice(-8).toLowerCase()}@shop.example`;
  const { out } = await quittanceCommand(quittance, { DATABASE_URL_ADMIN: quittance.stack.adminUrl }, [
    ...['people', 'invite', '--account', account, '--email', email, '--role', role, '--json'],
  ]);
  const { token } = JSON.parse(out) as { token: string };
  const answer = await fetch(`${quittance.url}/api/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(quittance.url).origin },
    body: JSON.stringify({ token, name, password: PASSWORD }),
  });
  if (!answer.ok) throw new Error(`${name} was not let in: ${await answer.text()}`);
  return { email, password: PASSWORD };
}

/** Signs in as a person does, and goes to a page of the dashboard. */
export async function signIn(
  { page, expectProblem }: Visit,
  { url }: Quittance,
  { email, password }: DashboardPerson,
  path = '/',
): Promise<void> {
  // Nobody has signed in: the page asks who, and is told so.
  expectProblem(/401/);
  await page.goto(`${url}/dashboard${path}`);
  await page.getByLabel('E-mail address').fill(email);
  await page.locator('input[type=password]').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: /account and sign-out/ }).waitFor();
}
