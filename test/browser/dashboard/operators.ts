import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import { expectNoAxeFindings, expectNoSidewaysScroll } from '@quittance/browser/expect-page';
import type { Open } from '@quittance/browser/in-browser';
import type { Visit } from '@quittance/browser/visit';
import { changeLook, type Look } from '@quittance/browser/windows';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { patient } from '@quittance/testkit/patience';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Page } from 'playwright-core';
import { CONFIRMATIONS, type OnStack } from '../on-stack.ts';
import { type DashboardPerson, dashboardPerson, goTo, openAs } from '../person.ts';

/** The console of operators, and every page of the dashboard as somebody who may see all of them has it. */

const RECIPIENT = '0x52908400098527886E0F7030069857D2E4169EE7';
const CHECKED_WITHIN_MS = 30_000;
const ALL_PAGES_WITHIN_MS = 180_000;

/** All paths that the dashboard knows. */
const routes = [
  ...readFileSync(new URL('../../../apps/dashboard/src/router.tsx', import.meta.url), 'utf8').matchAll(
    /^ {2}'(\/[^']*)': \(\) => import/gm,
  ),
].map(([, path = '']) => path);

export function operatorCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  let shop: Merchant;
  let operator: DashboardPerson;
  beforeAll(async () => {
    quittance = stack();
    shop = await quittance.merchant('Teas & Co.');
    operator = await dashboardPerson(quittance, shop, 'Otto');
    await quittance.db.rows(
      'insert into gateway.operators (person_id) select id from gateway.people where email = $1',
      [operator.email],
    );
  });

  async function see(path: string, person = operator, look: Look = {}): Promise<Visit> {
    const visit = await open(quittance.url, look);
    await openAs(visit, quittance, person, path);
    return visit;
  }
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  async function receive(
    asset: string,
    dollars: number,
    paidIn: 'ETH' | 'USDC_ERC20' = 'ETH',
  ): Promise<string> {
    const { id, address, amount } = (await shop.post('/api/invoices', { asset, amount: dollars })).body.data;
    await quittance.ethereum.pay(paidIn, address.address, paidIn === asset ? amount : String(dollars));
    await quittance.ethereum.mine(CONFIRMATIONS + 1);
    return id;
  }
  async function paid(dollars: number): Promise<string> {
    const id = await receive('ETH', dollars);
    await eventually(async () => expect((await shop.get(`/api/invoices/${id}`)).body.status).toBe('paid'));
    return id;
  }

  test('is seen by operators alone', async () => {
    const owner = await dashboardPerson(quittance, shop, 'Olga');
    const { page, expectProblem } = await see('/security', owner);
    const places = page.getByRole('navigation').getByRole('link');
    expect(await places.allTextContents()).not.toContain('Dead letters');
    expectProblem(/403/);
    for (const path of routes.filter((route) => route.startsWith('/operator/'))) {
      await goTo(page, path);
      await page.getByRole('alert').first().waitFor();
    }
    const { page: console } = await see('/operator/accounts');
    await console.getByText('Teas & Co.').first().waitFor();
    expect(await console.getByRole('navigation').getByRole('link').allTextContents()).toContain(
      'Dead letters',
    );
  });

  test('pauses the payouts of an asset with a reason, and resumes them', async () => {
    await paid(500);
    const { page } = await see('/operator/reconciliation');
    await page.getByText('Payouts of all assets run').waitFor();
    await button(page, 'Pause payouts').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Asset' }).click();
    await page.getByRole('option', { name: 'ETH', exact: true }).click();
    await dialog.getByLabel('Reason').fill('a strange <b>block</b>');
    await button(page, 'Pause').click();
    await page.getByText('a strange <b>block</b>').waitFor();
    await page.getByText('paused', { exact: true }).waitFor();
    const payOut = () => shop.post('/api/payouts', { asset: 'ETH', amount: '0.01', address: RECIPIENT });
    const refused = await payOut();
    expect([refused.status, refused.body.hint]).toEqual([503, expect.stringContaining('are paused')]);
    const allRun = page.getByText('Payouts of all assets run');
    await eventually(async () => {
      if (!(await allRun.isVisible())) await button(page, 'Resume').click({ timeout: 1_000 });
      await allRun.waitFor({ timeout: 2_000 });
    }, CHECKED_WITHIN_MS);
    await eventually(async () => expect((await payOut()).status).toBe(201));
    await goTo(page, '/operator/audit-log');
    await page
      .getByText(/operator\/pauses/)
      .first()
      .waitFor();
    await eventually(async () => {
      await quittance.ethereum.mine();
      expect((await shop.get('/api/payouts?status=mined')).body.meta.total).toBe(1);
    });
  });

  test('shows an event that a service failed to process, and has it sent again', async () => {
    const { id } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 25 })).body.data;
    const event = await eventually(async () => {
      const [sent] = await quittance.db.rows<{ id: string }>(
        `select o.id from invoices.outbox o join webhooks.inbox i on i.event_id = o.id
         where o.kind = 'invoice.created' and o.payload::text like '%' || $1 || '%'`,
        [id],
      );
      expect(sent).toBeDefined();
      return sent?.id ?? '';
    });
    await quittance.db.rows(
      `insert into webhooks.dead_letters (event_id, kind, envelope, failure)
       values ($1, 'invoice.created', '{"secret": 1}', 'the database was <b>full</b>')`,
      [event],
    );
    await quittance.db.rows(`update invoices.outbox set dead_lettered_by = '{webhooks}' where id = $1`, [
      event,
    ]);
    const { page } = await see('/operator/dead-letters');
    await page.getByText('the database was <b>full</b>').waitFor();
    expect(await page.content()).not.toContain('secret');
    await button(page, 'Send again').click();
    await page.getByText('Every event was processed').waitFor();
    expect(await quittance.db.rows('select event_id from webhooks.dead_letters')).toEqual([]);
  });

  /** An account in which every page has something to show; answers the page of each path with a parameter. */
  async function everything(): Promise<Record<string, string>> {
    const invoice = await paid(300);
    await shop.post(`/api/invoices/${invoice}/refunds`, { amount: 20 });
    const wrong = await receive('ETH', 40, 'USDC_ERC20');
    const posted = async (path: string, order: object) => {
      const { status, body } = await shop.post(path, order);
      expect([path, status, body.errors]).toEqual([path, 201, undefined]);
      return body.data;
    };
    const link = await posted('/api/payment-links', { description: 'A poster', amount: 12.5 });
    const row = { asset: 'ETH', amount: '0.01', address: RECIPIENT };
    const batch = await posted('/api/payout-batches', {
      mode: 'each',
      payouts: [{ ...row, external_id: 'wage-1' }],
    });
    const payout = await posted('/api/payouts', { ...row, external_id: 'rent-1' });
    const webhook = await posted('/api/webhooks', { url: 'https://shop.example/hook' });
    await posted('/api/tokens', { name: 'server', scopes: ['invoices:write'] });
    await posted('/api/address-book', { chain: 'ethereum', address: RECIPIENT, label: 'The landlord' });
    const funds = await eventually(async () => {
      const [found] = (await shop.get(`/api/unresolved?invoice_id=${wrong}`)).body.data;
      expect(found).toBeDefined();
      return found.id as string;
    });
    return {
      '/invoices/$id': invoice,
      '/payment-links/$id': link.id,
      '/unresolved/$id': funds,
      '/payouts/$id': String(payout.id),
      '/payout-batches/$id': batch.id,
      '/webhooks/$id': webhook.id,
    };
  }

  /** On its way from day to night a colour is neither. */
  const isAtRest = (page: Page) =>
    page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');

  const hasPartsOfOneWindow = async (page: Page) =>
    (await page.locator('main :is([class*=visible-from], [class*=hidden-from])').count()) > 0;

  test(
    'and all other pages can be read on a small phone by day and on a desktop by night, without moving them sideways',
    async () => {
      const ids = await everything();
      // From none of the pages that are shown: each has a title of its own.
      const { page } = await see('/no-page', operator, { window: 'small' });
      await page.getByText('There is no such page').waitFor();
      // Where it rests it may show a tooltip.
      await page.mouse.move(0, 0);
      expect(routes.length).toBeGreaterThan(30);
      for (const route of routes) {
        const id = ids[route];
        expect([route, id !== undefined]).toEqual([route, route.includes('$')]);
        await changeLook(page, { window: 'small' });
        await goTo(page, route.replace('$id', id ?? ''));
        await isAtRest(page);
        await expectNoSidewaysScroll(page);
        await expectNoAxeFindings(page);
        await changeLook(page, { window: 'desktop', scheme: 'dark' });
        await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
        await isAtRest(page);
        await expectNoSidewaysScroll(page);
        // What is around a page is the same on each. Of a page that has no parts for one of the windows only the colours are others.
        const part = {
          within: 'main',
          only: (await hasPartsOfOneWindow(page)) ? undefined : ['color-contrast'],
        };
        await expectNoAxeFindings(page, route === routes[0] ? {} : part);
      }
    },
    patient(ALL_PAGES_WITHIN_MS),
  );

  test('the first step of a payout is made with the keyboard alone, from the home page on', async () => {
    await paid(100);
    const { page } = await see('/');
    const tab = async (until: string) => {
      for (let presses = 0; presses < TABS_MAX; presses++) {
        await page.keyboard.press('Tab');
        if ((await page.evaluate<string>(NAME_OF_FOCUSED)).startsWith(until)) return;
      }
      throw new Error(`${TABS_MAX} tabs do not lead to ${until}`);
    };
    const payouts = async () => (await shop.get('/api/payouts')).body.meta.total as number;
    const before = await payouts();
    await page.keyboard.press('/');
    // Keys that come before the field has the focus are lost.
    await page.getByPlaceholder('A page, or the id of an invoice').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('payouts');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Payouts', exact: true }).waitFor();
    await tab('New payout');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'New payout' }).waitFor();
    await tab('Asset');
    // The list is opened, and then its next option is chosen, a moment after the key.
    await eventually(async () => {
      await page.keyboard.press('ArrowDown');
      await eventually(async () => expect(await page.evaluate(CHOSEN_OPTION)).toBe('ETH'), 500);
    });
    await eventually(async () => {
      await page.keyboard.press('Enter');
      const asset = page.getByRole('combobox', { name: 'Asset' });
      await eventually(async () => expect(await asset.inputValue()).toBe('ETH'), 500);
    });
    await tab('Amount');
    await page.keyboard.type('0.01');
    await tab('Address');
    await page.keyboard.type(RECIPIENT);
    await page.keyboard.press('Enter');
    await button(page, 'Send 0.01 ETH').waitFor();
    await tab('Send 0.01 ETH');
    expect(await page.getByRole('main').textContent()).toContain(RECIPIENT);
    expect(await payouts()).toBe(before);
  });
}

const TABS_MAX = 60;
/** Of the list whose field has the keyboard. */
const CHOSEN_OPTION = `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent`;
/** As a screen reader names it. */
const NAME_OF_FOCUSED = `(({ labels, ariaLabel, textContent }) =>
  labels?.[0]?.textContent ?? ariaLabel ?? textContent)(document.activeElement)`;
