import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import { getState } from 'jest-circus';
import type { Browser } from 'playwright-core';
import { findChromium, launch } from './chromium.ts';
import { type Visit, visit } from './visit.ts';
import type { Look } from './windows.ts';

/** Where a test that has failed leaves a picture of each of its pages. */
const PICTURES = fileURLToPath(new URL('../../../.test-output/browser/', import.meta.url));

/** Opens a page. What goes wrong in it fails the test, see `Visit`. */
export type Open = (origin: string, look?: Look) => Promise<Visit>;

/**
 * A block of tests in a browser, which all of them share; each visit has a profile of its own, and ends with its test. Where no
 * browser can be had, each test is skipped, and named with the reason.
 */
export async function inBrowser(title: string, cases: (open: Open) => void): Promise<void> {
  const found = await findChromium();
  if ('problem' in found) {
    // biome-ignore lint/suspicious/noSkippedTests: they cannot be tried on this machine
    describe.skip(`${title} (not tried: there is no Chromium)`, () => cases(noBrowser));
    return;
  }
  describe(title, () => {
    let browser: Browser;
    let visits: Visit[] = [];
    beforeAll(async () => {
      browser = await launch(found);
    });
    afterAll(() => browser?.close());
    afterEach(async () => {
      const ended = visits;
      visits = [];
      const problems = ended.flatMap((one) => one.unexpected());
      if (problems.length > 0 || hasFailed()) await takePictures(ended);
      for (const { page } of ended) await page.context().close();
      if (problems.length > 0) throw new Error(`the browser reports:\n${problems.join('\n')}`);
    });
    cases(async (origin, look = {}) => {
      const opened = await visit(browser, new URL(origin).origin, look);
      visits.push(opened);
      return opened;
    });
  });
}

const noBrowser: Open = () => Promise.reject(new Error('there is no browser'));

const hasFailed = (): boolean => (getState().currentlyRunningTest?.errors.length ?? 0) > 0;

async function takePictures(visits: readonly Visit[]): Promise<void> {
  const title = getState().currentlyRunningTest?.name ?? 'test';
  mkdirSync(PICTURES, { recursive: true });
  for (const [index, { page }] of visits.entries()) {
    const file = path.join(PICTURES, `${title.replaceAll(/[^\w]+/g, '-')}-${index + 1}.png`);
    await page.screenshot({ path: file, fullPage: true });
    process.stderr.write(`a picture of the failed test "${title}": ${path.relative(process.cwd(), file)}\n`);
  }
}
