import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectNoAxeFindings, expectNoSidewaysScroll } from '@quittance/browser/expect-page';
import { inBrowser } from '@quittance/browser/in-browser';
import { services } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import { patient, STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import type { Page } from 'playwright-core';

/** The documents that the gateway shows, as people read them. Suites of the gateway read their bytes. */

const ALL_WITHIN_MS = 60_000;
/** What the list of contents leads to at least. */
const DOCUMENTS_MIN = 20;
/** One of each kind: all of a kind have the same style sheet. */
const KINDS = ['/docs', '/docs/guides', '/docs/guides/webhooks', '/docs/reference'];

await inBrowser('the documents', (open) => {
  let quittance: Quittance;
  beforeAll(async () => {
    quittance = await startQuittance({ chains: [], together: services, quiet: true });
  }, STACK_STARTED_WITHIN_MS);
  afterAll(() => quittance?.stop());

  async function expectReadable(page: Page, path: string, except: readonly string[] = []): Promise<void> {
    await page.goto(`${quittance.url}${path}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await expectNoSidewaysScroll(page);
    // The reference is drawn by a script, step by step.
    await eventually(() => expectNoAxeFindings(page, { except }));
  }

  test(
    'can be read on a small phone, and load nothing from elsewhere',
    async () => {
      const { page } = await open(quittance.url, { window: 'small' });
      await page.goto(`${quittance.url}/docs`);
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
      const { page } = await open(quittance.url, { window: 'desktop', scheme: 'dark' });
      for (const path of KINDS) await expectReadable(page, path);
    },
    patient(ALL_WITHIN_MS),
  );
});
