import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Engine } from '@quittance/engines/process';
import type { Quittance } from '@quittance/testkit/quittance';
import { startReplica } from '@quittance/testkit/replica';
import { rawHttp } from '../raw-http.ts';
import { PAYEE, refusedInvoices, refusedPayouts } from '../refused-bodies.ts';
import { bodyCases, errorBody, shownOf } from './contract-bodies.ts';
import type { OnStack } from './on-stack.ts';

/** Every row of the contract's Errors and Limits, as bytes on a socket: no client library tidies them up. */
export const contractCases = (stack: OnStack): void =>
  describe('the contract', () => {
    let quittance: Quittance;
    /** Its limits are those of a new installation: 30 requests a minute and token. */
    let gateway: Engine;
    let port: number;

    beforeAll(async () => {
      quittance = stack();
      const REDIS_URL = quittance.stack.engines.redis?.url ?? '';
      const limits = { RATE_LIMIT_PER_MINUTE: '30', FAILED_AUTH_PER_MINUTE: '300', REDIS_URL };
      const settings = { ...limits, METRICS_PORT: '' };
      ({ port, engine: gateway } = await startReplica(quittance, 'gateway', settings));
    });
    afterAll(() => gateway?.stop());

    const { send, get, post } = rawHttp(() => port);
    const as = (shop: { token: string }) => `Authorization: Bearer ${shop.token}`;
    const json = 'Content-Type: application/json';

    describe('401: whoever is not known', () => {
      // The contract shows the whole body, so nothing is beside it.
      const unauthenticated = { message: 'Unauthenticated.' };

      test.each([
        ['no token', []],
        ['an empty token', ['Authorization: Bearer ']],
        ['another scheme', ['Authorization: Basic dXNlcjpwYXNz']],
        ['an unknown token', ['Authorization: Bearer qt_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG']],
        ['a forged identity', ['X-Quittance-Identity: eyJhY2NvdW50IjoiYWNjXzEifQ.AAAA']],
      ])('%s', async (_, headers) => {
        for (const list of ['invoices', 'payouts', 'balances', 'assets', 'webhooks']) {
          expect(shownOf(await get(`/api/${list}`, ...headers))).toEqual({
            status: 401,
            body: unauthenticated,
          });
        }
      });

      test('a revoked token, at once', async () => {
        const shop = await quittance.merchant();
        expect((await get('/api/assets', as(shop))).status).toBe(200);
        await quittance.db.rows('update gateway.tokens set revoked_at = now() where account_id = $1', [
          shop.id,
        ]);
        expect(shownOf(await get('/api/assets', as(shop)))).toEqual({ status: 401, body: unauthenticated });
      });

      test('an expired token', async () => {
        const shop = await quittance.merchant();
        await quittance.db.rows(
          `update gateway.tokens set created_at = now() - interval '2 days', expires_at = now() - interval '1 second' where account_id = $1`,
          [shop.id],
        );
        expect(shownOf(await get('/api/assets', as(shop)))).toEqual({ status: 401, body: unauthenticated });
      });
    });

    describe('404 and 405: what is not there', () => {
      test('an unknown route, before anybody is asked who they are', async () => {
        expect(shownOf(await get('/api/nothing'))).toEqual({
          status: 404,
          body: errorBody('The route api/nothing could not be found.'),
        });
      });

      test('a wrong verb, with what is allowed', async () => {
        const answer = await send('DELETE', '/api/invoices', []);
        const message =
          'The DELETE method is not supported for this route. Supported methods: GET, HEAD, POST.';
        expect(shownOf(answer)).toEqual({ status: 405, body: errorBody(message) });
        expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
      });

      test('an invoice that does not exist', async () => {
        const shop = await quittance.merchant();
        for (const id of ['inv_0', '1', `inv_${'0'.repeat(36)}`]) {
          expect(shownOf(await get(`/api/invoices/${id}`, as(shop)))).toEqual({
            status: 404,
            body: errorBody('No query results for model [Invoice].'),
          });
        }
      });
    });

    test('403: what belongs to another account', async () => {
      const [mine, theirs] = [await quittance.merchant(), await quittance.merchant()];
      const made = await post('/api/invoices', '{"asset":"ETH","amount":10}', as(theirs), json);
      const { id } = (made.body as { data: { id: string } }).data;
      expect(shownOf(await get(`/api/invoices/${id}`, as(mine)))).toEqual({
        status: 403,
        body: { message: 'This action is unauthorized.' },
      });
    });

    const invalid = (errors: object) => ({
      status: 422,
      body: errorBody('The given data was invalid.', { errors }),
    });

    describe('422: invoices', () => {
      test.each(refusedInvoices)('%s', async (body, errors) => {
        const shop = await quittance.merchant();
        expect(shownOf(await post('/api/invoices', body, as(shop), json))).toEqual(invalid(errors));
      });

      test.each(['5', '5.00', '"5"', '" 10.5 "', '5e0', '1e3'])(
        'an amount of %s is accepted',
        async (amount) => {
          const shop = await quittance.merchant();
          expect(
            (await post('/api/invoices', `{"asset":"ETH","amount":${amount}}`, as(shop), json)).status,
          ).toBe(201);
        },
      );
    });

    describe('422 and 400: payouts', () => {
      test.each(refusedPayouts)('%s', async (body, errors) => {
        const shop = await quittance.merchant();
        expect(shownOf(await post('/api/payouts', body, as(shop), json))).toEqual(invalid(errors));
      });

      test('400: more than the balance', async () => {
        const shop = await quittance.merchant();
        const order = `{"asset":"ETH","amount":1,"address":"${PAYEE}"}`;
        const answer = await post('/api/payouts', order, as(shop), json);
        expect(shownOf(answer)).toEqual({ status: 400, body: errorBody('Insufficient balance') });
      });
    });

    describe('limits', () => {
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

      test.each(['/api/invoices', '/api/payouts'])(
        '%s: perPage is 10 by default and 100 at most',
        async (path) => {
          const shop = await quittance.merchant();
          expect(await get(path, as(shop))).toMatchObject({
            status: 200,
            body: { data: [], meta: { per_page: 10 } },
          });
          expect((await get(`${path}?perPage=100`, as(shop))).status).toBe(200);
          expect(shownOf(await get(`${path}?perPage=101`, as(shop)))).toEqual(
            invalid({ perPage: ['The per page must not be greater than 100.'] }),
          );
          expect(shownOf(await get(`${path}?perPage=0`, as(shop)))).toEqual(
            invalid({ perPage: ['The per page must be at least 1.'] }),
          );
          expect(await get(`${path}?page=zzz`, as(shop))).toMatchObject({
            status: 200,
            body: { meta: { current_page: 1 } },
          });
        },
      );

      test('a body over 64 kB is 413', async () => {
        const shop = await quittance.merchant();
        const body = `{"asset":"ETH","amount":10,"external_id":"${'x'.repeat(70_000)}"}`;
        expect(shownOf(await post('/api/invoices', body, as(shop), json))).toEqual({
          status: 413,
          body: errorBody('The body must not be greater than 64 kilobytes.'),
        });
      });
    });

    test('500s tell nothing: a service that is away is 503 with Retry-After', async () => {
      const shop = await quittance.merchant();
      quittance.stack.services.ledger.kill();
      const answer = await get('/api/balances', as(shop));
      expect(shownOf(answer)).toEqual({ status: 503, body: errorBody('Service Unavailable') });
      expect(answer.headers.get('retry-after')).toBeDefined();
      await quittance.stack.services.ledger.restart();
      expect((await get('/api/balances', as(shop))).status).toBe(200);
    });

    bodyCases(stack, { get, post });

    test('the same Idempotency-Key gives the same invoice, and another body is refused', async () => {
      const shop = await quittance.merchant();
      const key = 'Idempotency-Key: order-8';
      const first = await post('/api/invoices', '{"asset":"ETH","amount":20}', as(shop), json, key);
      const again = await post('/api/invoices', '{"asset":"ETH","amount":20}', as(shop), json, key);
      expect(again.status).toBe(201);
      expect(again.body).toEqual(first.body);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect((await post('/api/invoices', '{"asset":"ETH","amount":21}', as(shop), json, key)).status).toBe(
        422,
      );
    });

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
