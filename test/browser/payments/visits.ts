import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectNoAxeFindings, expectNoSidewaysScroll } from '@quittance/browser/expect-page';
import type { Open } from '@quittance/browser/in-browser';
import { localPort } from '@quittance/testkit/local-port';

/** What the tests in a browser rely on: that nothing which goes wrong in a page is overlooked. */

const PAGES: Readonly<Record<string, string>> = {
  '/right': '<p>Right',
  '/console': '<script>console.error("a word on the console")</script>',
  '/throws': '<script>throw new Error("thrown")</script>',
  '/policy':
    '<meta http-equiv="Content-Security-Policy" content="style-src \'none\'"><p style="color:red">Red',
  '/nothing-there': '<img src="/none.png" alt="">',
  '/elsewhere': '<img src="http://localhost:1/a.png" alt="">',
  '/wide': '<div style="width:392px">Wide',
  '/no-text': '<button></button>',
};

export function visitCases(open: Open): void {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer(({ url: path = '' }, response) => {
      const body = PAGES[path];
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html' });
      response.end(
        `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>A page</title><main><h1>A page</h1>${body}</main>`,
      );
    });
    url = `http://127.0.0.1:${await localPort(server)}`;
  });
  afterAll(() => void server?.close());

  describe.each([
    ['/console', /console: a word on the console/],
    ['/throws', /script: thrown/],
    ['/policy', /console: .*Content Security Policy/],
    ['/nothing-there', /console: .*404.*none\.png/],
    ['/elsewhere', /other origin: http:\/\/localhost:1\/a\.png/],
  ])('of %s', (path, problem) => {
    test('reports what goes wrong', async () => {
      const { page, unexpected, expectProblem } = await open(url);
      await page.goto(`${url}${path}`, { waitUntil: 'networkidle' });
      expect(unexpected().join('\n')).toMatch(problem);
      expectProblem(/./);
    });
  });

  test('reports nothing of a page that is right, and that an expected problem did not come', async () => {
    const { page, unexpected, expectProblem } = await open(url);
    await page.goto(`${url}/right`);
    await expectNoAxeFindings(page);
    await expectNoSidewaysScroll(page);
    expect(unexpected()).toEqual([]);
    await page.goto(`${url}/console`);
    expectProblem(/a word/);
    expect(unexpected()).toEqual([]);
    expectProblem(/thrown/);
    expect(unexpected()).toEqual(['did not come: /thrown/']);
    await page.goto(`${url}/throws`);
  });

  test('finds a page too wide for a small window, and a button without a name', async () => {
    const { page } = await open(url, { window: 'small' });
    await page.goto(`${url}/wide`);
    await expect(expectNoSidewaysScroll(page)).rejects.toThrow('400');
    await page.goto(`${url}/no-text`);
    await expect(expectNoAxeFindings(page)).rejects.toThrow('button-name');
    await expectNoAxeFindings(page, { except: ['button-name'] });
  });
}
