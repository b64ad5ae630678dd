import { beforeAll, expect, test } from '@jest/globals';
import { expectNoAxeFindings, expectNoSidewaysScroll } from '@quittance/browser/expect-page';
import type { Open } from '@quittance/browser/in-browser';
import { changeLook } from '@quittance/browser/windows';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Page } from 'playwright-core';
import type { OnStack } from './on-stack.ts';

/** The documents that the gateway shows, as people read them. Suites of the gateway read their bytes. */

const ALL_WITHIN_MS = 120_000;
/** What the list of contents leads to at least. */
const DOCUMENTS_MIN = 20;
/** One of each kind: all of a kind have the same style sheet. */
const KINDS = ['/docs', '/docs/guides', '/docs/guides/webhooks', '/docs/reference'];

export function documentCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  beforeAll(async () => {
    quittance = stack();
  });

  async function expectReadable(page: Page, isOfKind: boolean): Promise<void> {
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await expectNoSidewaysScroll(page);
    // Around its text each is like the others. And the dearest of the rules compares all colours of a page.
    const part = isOfKind ? {} : { within: 'main', except: ['color-contrast'] };
    // The reference is drawn by a script, step by step.
    await eventually(() => expectNoAxeFindings(page, part));
  }

  test(
    'can be read on a small phone, one of each kind also on a desktop in the dark, and load nothing from elsewhere',
    async () => {
      const { page } = await open(quittance.url, { window: 'small' });
      await page.goto(`${quittance.url}/docs`);
      const listed = await page.evaluate<string[]>(
        `[...document.querySelectorAll('nav a')].map(({ pathname }) => pathname)`,
      );
      const paths = new Set(['/docs', '/docs/guides', ...listed]);
      expect(paths.size).toBeGreaterThan(DOCUMENTS_MIN);
      for (const path of paths) {
        const isOfKind = KINDS.includes(path);
        await changeLook(page, { window: 'small' });
        await page.goto(`${quittance.url}${path}`);
        await expectReadable(page, isOfKind);
        if (!isOfKind) continue;
        await changeLook(page, { window: 'desktop', scheme: 'dark' });
        await expectReadable(page, true);
      }
    },
    patient(ALL_WITHIN_MS),
  );
}
