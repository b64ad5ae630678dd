import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { request } from 'undici';
import { CONFIRMATIONS, type OnStack } from './on-stack.ts';

/** What a payer does in a browser, and who pays then. */
export const choiceCases = (stack: OnStack): void =>
  describe('a payer', () => {
    let shop: Merchant;
    beforeAll(async () => {
      shop = await stack().merchant();
    });

    /** Sends a form as a browser does. @returns the address of the page that it leads to */
    async function submit(url: string, form: Record<string, string> = {}): Promise<string> {
      const answer = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
      });
      await answer.body.dump();
      expect(answer.statusCode).toBe(303);
      return new URL(String(answer.headers['location']), url).href;
    }
    const read = async (page: string) => (await shop.get(`/api/invoices/${page.split('/').at(-1)}`)).body;

    async function pay(page: string): Promise<void> {
      const { asset, address, amount } = await read(page);
      await stack().ethereum.pay(asset.symbol, address.address, amount);
    }
    async function arePaid(...pages: string[]): Promise<void> {
      await stack().ethereum.mine(CONFIRMATIONS);
      await eventually(async () => {
        for (const page of pages) expect((await read(page)).status).toBe('paid');
      });
    }

    test('chooses the asset of an invoice and pays it', async () => {
      const { data } = (await shop.post('/api/invoices', { assets: 'all', amount: 25 })).body;
      expect(data).toMatchObject({ asset: null, assets: expect.arrayContaining(['ETH', 'USDC_ERC20']) });
      const page = await submit(`${data.url}/choose`, { asset: 'USDC_ERC20' });
      expect(page).toBe(data.url);
      await pay(page);
      await arePaid(page);
    });

    test('pays a link three times, by three invoices', async () => {
      const link = { amount: 10, asset: 'ETH', description: 'Tea' };
      const { data } = (await shop.post('/api/payment-links', link)).body;
      const pages: string[] = [];
      for (let i = 0; i < 3; i++) pages.push(await submit(data.url));
      expect(new Set(pages).size).toBe(3);
      for (const page of pages) await pay(page);
      await arePaid(...pages);
      const { body } = await shop.get(`/api/invoices?payment_link_id=${data.id}&status=paid`);
      expect(body.meta.total).toBe(3);
    });
  });
