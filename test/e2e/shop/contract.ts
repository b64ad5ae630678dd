import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Engine } from '@quittance/engines/process';
import type { Quittance } from '@quittance/testkit/quittance';
import { startReplica } from '@quittance/testkit/replica';
import { rawHttp } from '../raw-http.ts';
import { bodyCases, errorBody, shownOf } from './contract-bodies.ts';
import type { OnStack } from './on-stack.ts';

/**
 * What the contract says of bodies and limits, as bytes on a socket: no client library tidies them up. What else is refused, and in
 * which order, is in services/gateway/test/order-of-checks.test.ts, and what a form refuses in the tests of its service.
 */
export const contractCases = (stack: OnStack): void =>
  describe('the contract', () => {
    let quittance: Quittance;
    /** Its limits are those of a new installation: 30 requests a minute and token. */
    let gateway: Engine;
    let port: number;

    beforeAll(async () => {
      quittance = stack();
      const settings = { RATE_LIMIT_PER_MINUTE: '30', FAILED_AUTH_PER_MINUTE: '300', METRICS_PORT: '' };
      ({ port, engine: gateway } = await startReplica(quittance, 'gateway', settings));
    });
    afterAll(() => gateway?.stop());

    const { get, post } = rawHttp(() => port);
    const as = (shop: { token: string }) => `Authorization: Bearer ${shop.token}`;
    const json = 'Content-Type: application/json';

    test('401: a forged identity is none', async () => {
      for (const list of ['invoices', 'payouts', 'balances', 'assets', 'webhooks']) {
        const answer = await get(`/api/${list}`, 'X-Quittance-Identity: eyJhY2NvdW50IjoiYWNjXzEifQ.AAAA');
        // The contract shows the whole body, so nothing is beside it.
        expect(shownOf(answer)).toEqual({ status: 401, body: { message: 'Unauthenticated.' } });
      }
    });

    test('422: a body with a key twice is taken for none', async () => {
      const shop = await quittance.merchant();
      const errors = {
        asset: ['The asset field is required.'],
        amount: ['The amount field is required.'],
      };
      const answer = await post('/api/invoices', '{"asset":"ETH","amount":10,"amount":1000}', as(shop), json);
      expect(shownOf(answer)).toEqual({
        status: 422,
        body: errorBody('The given data was invalid.', { errors }),
      });
    });

    test('30 requests a minute and token, then 429; another token goes on', async () => {
      const [shop, other] = [await quittance.merchant(), await quittance.merchant()];
      for (let i = 1; i <= 30; i++) {
        const answer = await get('/api/assets', as(shop));
        expect(answer.status).toBe(200);
        expect(answer.headers.get('x-ratelimit-limit')).toBe('30');
        expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(30 - i));
      }
      const over = await get('/api/balances', as(shop));
      expect(shownOf(over)).toEqual({ status: 429, body: errorBody('Too Many Attempts.') });
      expect(over.headers.get('x-ratelimit-remaining')).toBe('0');
      // eslint-disable-next-line no-restricted-syntax -- seconds
      const wait = Number.parseInt(over.headers.get('retry-after') ?? '', 10);
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(60);
      expect((await get('/api/assets', as(other))).status).toBe(200);
    });

    bodyCases(stack, { get, post });

    test('the payment page needs no token, runs its own script alone and loads nothing from elsewhere', async () => {
      const shop = await quittance.merchant();
      const made = await post('/api/invoices', '{"asset":"ETH","amount":10}', as(shop), json);
      const page = await fetch((made.body as { data: { url: string } }).data.url);
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      const html = await page.text();
      const [script = '', ...others] = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
        ([, text = '']) => text,
      );
      expect(others).toEqual([]);
      const policy = page.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain(`script-src 'sha256-${hash('sha256', script, 'base64')}'`);
      expect(html).toContain('<svg');
      expect(html).not.toMatch(/<script |src="http|href="http/);
      expect((await fetch(`http://127.0.0.1:${port}/pay/inv_nothing`)).status).toBe(404);
    });
  });
