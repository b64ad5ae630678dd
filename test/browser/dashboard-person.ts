import type { Visit } from '@quittance/browser/visit';
import { inviteAsOperator } from '@quittance/gateway/operations/operators-people';
import { systemClock } from '@quittance/shared/clock';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Page } from 'playwright-core';

export type DashboardPerson = { email: string; password: string; name: string };

type Role = Parameters<typeof inviteAsOperator>[1]['role'];

const PASSWORD = 'three words and a comma';
let people = 0;

/** Somebody who owns these accounts, and signs in for the first of them. */
export async function ownerOf(quittance: Quittance, ...accounts: string[]): Promise<DashboardPerson> {
  const person = { email: `owner${++people}@shop.example`, password: PASSWORD, name: 'Anna' };
  let cookie = '';
  for (const account of accounts) {
    const token = await invite(quittance, account, person.email, 'owner');
    const own = cookie === '' ? { name: person.name, password: person.password } : {};
    await send(quittance, '/api/invitations/accept', { token, ...own }, cookie);
    cookie ||= await signInByApi(quittance, person);
  }
  return person;
}

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
async function invite({ stack }: Quittance, account: string, email: string, role: Role): Promise<string> {
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

/** A session as another window begins it; answers its cookie. */
export async function signInByApi(
  quittance: Quittance,
  { email, password }: DashboardPerson,
  account?: string,
): Promise<string> {
  const answer = await send(quittance, '/api/session', { email, password, account_id: account ?? null });
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

async function send({ url }: Quittance, path: string, body: object, cookie = ''): Promise<Response> {
  const headers = {
    'Content-Type': 'application/json',
    Origin: new URL(url).origin,
    ...(cookie === '' ? {} : { Cookie: cookie }),
  };
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer;
}

/** Opens a page of the dashboard, and signs in on the way. */
export async function signInAt(page: Page, url: string, person: DashboardPerson): Promise<void> {
  await page.goto(url);
  await page.getByLabel('E-mail address').fill(person.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(person.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: /account and sign-out/ }).waitFor();
}

/** Until somebody has signed in, the page asks who it is, and the browser reports the answer. */
export const NOBODY_SIGNED_IN = /status of 401 .*\/api\/me$/;

/** The same for a visit that somebody begins with a page of the dashboard. */
export async function signIn(
  { page, expectProblem }: Visit,
  { url }: Quittance,
  person: DashboardPerson,
  path = '/',
): Promise<void> {
  expectProblem(NOBODY_SIGNED_IN);
  await signInAt(page, `${url}/dashboard${path}`, person);
}
