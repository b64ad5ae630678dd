import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

type Part = {
  except?: readonly string[];
  only?: readonly string[] | undefined;
  within?: string;
};

/**
 * Nothing keeps people from using the page, as far as axe-core finds it, contrast of colours among it.
 * @param except rules that are left out
 * @param only the rules that are tried; all of them when not given
 * @param within the part of the page that is looked at; rules of whole pages are left out then
 */
export async function expectNoAxeFindings(
  page: Page,
  { except = [], only, within }: Part = {},
): Promise<void> {
  // Where a page changes without being loaded again it is there already.
  if (await page.evaluate<boolean>('window.axe === undefined')) await page.evaluate(axe);
  const rules = Object.fromEntries(except.map((rule) => [rule, { enabled: false }]));
  const runOnly = only && { type: 'rule', values: only };
  const options = JSON.stringify({ rules, runOnly, resultTypes: ['violations'] });
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(within ?? null)} ?? document, ${options})`,
  );
  const findings = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, any, all }) => `${id} ${target.join(' ')}: ${(any[0] ?? all[0])?.message ?? ''}`),
  );
  expect(findings).toEqual([]);
}

/** How long a page may take to fit into a window that has changed: a chart takes its new width a frame or more after it. */
const FITS_WITHIN_MS = 2_000;

/** The page fits into its window: nobody has to move it to the side to read it. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const fitting = page.viewportSize()?.width ?? 0;
  const width = await page.evaluate<number>(`new Promise((resolve) => {
    const until = performance.now() + ${FITS_WITHIN_MS};
    (function look() {
      const width = document.documentElement.scrollWidth;
      if (width <= ${fitting} || performance.now() > until) resolve(width);
      else requestAnimationFrame(look);
    })();
  })`);
  expect(width).toBeLessThanOrEqual(fitting);
}
