import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectNoAxeFindings, expectNoSidewaysScroll } from '@quittance/browser/expect-page';
import { inBrowser } from '@quittance/browser/in-browser';
import { freePort } from '@quittance/engines/free-port';
import { gatewayKeys } from '@quittance/testkit/api';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { runServiceMain, type ServiceMain } from '@quittance/testkit/service-main';
import type { Page } from 'playwright-core';

/** The documents that the gateway shows, as people read them. Suites of the gateway read their bytes. */

const ALL_WITHIN_MS = 60_000;
const NOWHERE = 'http://127.0.0.1:1';
/** What the list of contents leads to at least. */
const DOCUMENTS_MIN = 20;
/** One of each kind: all of a kind have the same style sheet. */
const KINDS = ['/docs', '/docs/guides', '/docs/guides/webhooks', '/docs/reference'];

await inBrowser('the documents', (open) => {
  let url: string;
  let gateway: ServiceMain;
  beforeAll(async () => {
    const port = String(await freePort());
    url = `http://127.0.0.1:${port}`;
    gateway = runServiceMain('gateway', {
      ...{ PORT: port, PUBLIC_URL: url, GATEWAY_PRIVATE_KEY: gatewayKeys.privateKey, LOG_LEVEL: 'warn' },
      // All that a document needs is in the gateway.
      ...{ DATABASE_URL: 'postgres://gateway:none@127.0.0.1:1/none', PAGES_PER_MINUTE: '100000' },
      ...{ INVOICES_URL: NOWHERE, PAYOUTS_URL: NOWHERE, LEDGER_URL: NOWHERE, WEBHOOKS_URL: NOWHERE },
    });
    await eventually(async () => expect((await fetch(`${url}/docs`)).status).toBe(200));
  }, patient(ALL_WITHIN_MS));
  afterAll(async () => {
    gateway.kill('SIGTERM');
    await gateway.ended;
  });

  async function expectReadable(page: Page, path: string, except: readonly string[] = []): Promise<void> {
    await page.goto(`${url}${path}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await expectNoSidewaysScroll(page);
    // The reference is drawn by a script, step by step.
    await eventually(() => expectNoAxeFindings(page, { except }));
  }

  test(
    'can be read on a small phone, and load nothing from elsewhere',
    async () => {
      const { page } = await open(url, { window: 'small' });
      await page.goto(`${url}/docs`);
      const listed = await page.evaluate<string[]>(
        `[...document.querySelectorAll('nav a')].map(({ pathname }) => pathname)`,
      );
      const paths = new Set(['/docs', '/docs/guides', ...listed]);
      expect(paths.size).toBeGreaterThan(DOCUMENTS_MIN);
      // The dearest of the rules: it compares all colours of a page.
      for (const path of paths)
        await expectReadable(page, path, KINDS.includes(path) ? [] : ['color-contrast']);
    },
    patient(ALL_WITHIN_MS),
  );

  test(
    'can be read on a desktop in the dark, and load nothing from elsewhere',
    async () => {
      const { page } = await open(url, { window: 'desktop', scheme: 'dark' });
      for (const path of KINDS) await expectReadable(page, path);
    },
    patient(ALL_WITHIN_MS),
  );
});
