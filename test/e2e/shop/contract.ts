import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import type { OnStack } from './on-stack.ts';

/** The form of answers, in full. What is refused is in mistakes.ts, and with all its cases in the suites of the services. */
export const contractCases = (stack: OnStack): void =>
  describe('the contract', () => {
    let quittance: Quittance;
    let shop: Merchant;

    beforeAll(async () => {
      quittance = stack();
      shop = await quittance.merchant();
    });

    test('what every answer looks like: assets, balances, an invoice, lists', async () => {
      const text = expect.any(String);
      const asset = {
        id: expect.any(Number),
        name: text,
        symbol: 'ETH',
        chain: 'ethereum',
        type: 'native',
        decimals: 18,
        usd_rate: '2500',
        network_fee: '0.0005',
        min_confirmations: expect.any(Number),
      };
      const assets = (await shop.get('/api/assets')).body;
      expect(assets.data).toHaveLength(2);
      expect(assets.data).toContainEqual(asset);

      const balances = (await shop.get('/api/balances')).body;
      expect(balances.data).toHaveLength(2);
      expect(balances.data).toContainEqual({ asset, balance: '0', held: '0', usd_value: '0' });

      const order = { asset: 'ETH', amount: 12.5, external_id: 'order-7', expires_in: 30 };
      const made = (await shop.post('/api/invoices', order)).body;
      const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const listed = {
        id: expect.stringMatching(/^inv_[0-9a-z]{36}$/),
        external_id: 'order-7',
        amount_fiat: '12.50',
        usd_rate: '2500',
        status: 'pending',
        expires_at: stamp,
        paid_at: null,
        created_at: stamp,
        amount: '0.005',
        asset,
      };
      const full = {
        ...listed,
        currency: 'USD',
        pending_amount: '0',
        paid_amount: '0',
        reversed_amount: '0',
        amount_remaining: '0.005',
        cancelled_at: null,
        description: null,
        metadata: {},
        url: `${quittance.url}/pay/${made.data.id}`,
        address: {
          address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
          uri: expect.stringMatching(/^ethereum:0x/),
        },
        payments: [],
      };
      expect(made).toEqual({ message: text, data: full });
      expect((await shop.get(`/api/invoices/${made.data.id}`)).body).toEqual(full);
      expect(await shop.get('/api/invoices')).toMatchObject({
        status: 200,
        body: {
          data: [listed],
          meta: { total: 1, current_page: 1, last_page: 1 },
          links: { prev: null, next: null },
        },
      });
      const list = (await shop.get('/api/invoices')).body;
      expect(Object.keys(list.data[0] ?? {}).sort()).toEqual(Object.keys(listed).sort());
    });

    test('the payment page needs no token, runs no script and loads nothing from elsewhere', async () => {
      const { url } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 10 })).body.data;
      const page = await fetch(url);
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
      const html = await page.text();
      expect(html).toContain('<svg');
      expect(html).not.toMatch(/<script|src="http|href="http/);
      expect((await fetch(`${quittance.url}/pay/inv_nothing`)).status).toBe(404);
    });
  });
