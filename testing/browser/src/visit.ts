import { patient } from '@quittance/testkit/patience';
import type { Browser, Page } from 'playwright-core';
import { contextOptions, type Look } from './windows.ts';

/** Until a page has loaded, or an element that is waited for is there. */
const COMES_WITHIN_MS = 30_000;

/** A page in a browser profile of its own, with what the browser says of it. */
export type Visit = {
  page: Page;
  /** The URLs of all that was requested, `data:` URLs left out. */
  requests: readonly string[];
  /**
   * What goes wrong makes the test fail when it ends: an error on the console (a violation of the page's policy is one), a script
   * that throws, a request that fails or leads to another origin. This says that one is expected, and must come.
   */
  expectProblem(pattern: RegExp): void;
  /** The problems that were not expected, and the expected ones that did not come. */
  unexpected(): string[];
};

/** @param origin of the pages; what they load from another is a problem */
export async function visit(browser: Browser, origin: string, look: Look): Promise<Visit> {
  const context = await browser.newContext(contextOptions(look));
  context.setDefaultTimeout(patient(COMES_WITHIN_MS));
  const page = await context.newPage();
  const requests: string[] = [];
  const problems: string[] = [];
  /** What may go wrong: a page may give up a request, and does so when it is left. */
  const givenUp: string[] = [];
  const expected: RegExp[] = [];
  page.on('console', (message) => {
    const { url } = message.location();
    // Browsers with a window ask for an icon by themselves, and tell of no such request.
    if (message.type() === 'error' && new URL(url, origin).pathname !== '/favicon.ico')
      problems.push(`console: ${message.text()} ${url}`);
  });
  page.on('pageerror', (error) => problems.push(`script: ${error.message}`));
  page.on('requestfailed', (request) => {
    const error = request.failure()?.errorText ?? '';
    (error === 'net::ERR_ABORTED' ? givenUp : problems).push(`request: ${request.url()} ${error}`);
  });
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol === 'data:') return;
    requests.push(request.url());
    if (asked !== origin) problems.push(`other origin: ${request.url()}`);
  });
  return {
    page,
    requests,
    expectProblem: (pattern) => expected.push(pattern),
    unexpected: () => [
      ...problems.filter((problem) => !expected.some((pattern) => pattern.test(problem))),
      ...expected
        .filter((pattern) => ![...problems, ...givenUp].some((problem) => pattern.test(problem)))
        .map((pattern) => `did not come: ${pattern}`),
    ],
  };
}
