import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { balanceOf, CONFIRMATIONS, type OnStack, whileMining } from './on-stack.ts';

/** Step by step, on a node that makes a block only when it is told to: what money.test.ts only sees passing by. */

export const ethereumCases = (stack: OnStack): void =>
  describe('Ethereum, block by block', () => {
    let quittance: Quittance;
    let shop: Merchant;

    beforeAll(async () => {
      quittance = stack();
      shop = await quittance.merchant();
    });
    afterEach(async () => {
      await eventually(async () => expect((await quittance.books()).discrepancies).toEqual([]));
    });

    async function invoice(
      order: object,
    ): Promise<{ id: string; amount: string; address: { address: string } }> {
      const made = await shop.post('/api/invoices', order);
      expect(made.status).toBe(201);
      return made.body.data;
    }

    const read = async (id: string) => (await shop.get(`/api/invoices/${id}`)).body;

    const becomes = (id: string, wanted: object, withinMs?: number) =>
      eventually(async () => expect(await read(id)).toMatchObject(wanted), withinMs);

    test('ETH paid in full: confirmed when it is seen, paid when it is final, and in the balance by then', async () => {
      const { id, amount, address } = await invoice({ asset: 'ETH', amount: 25, external_id: 'order-1' });
      expect(await read(id)).toMatchObject({
        status: 'pending',
        amount: '0.01',
        amount_fiat: '25.00',
        payments: [],
      });

      const hash = await quittance.ethereum.pay('ETH', address.address, amount);
      await quittance.ethereum.mine();
      await becomes(id, {
        status: 'confirmed',
        pending_amount: '0.01',
        paid_amount: '0',
        paid_at: null,
        payments: [{ tx_hash: hash, output_index: 0, amount: '0.01', status: 'pending', confirmations: 1 }],
      });

      await quittance.ethereum.mine(CONFIRMATIONS - 1);
      await becomes(id, {
        status: 'paid',
        pending_amount: '0',
        paid_amount: '0.01',
        paid_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        payments: [
          { status: 'confirmed', confirmations: CONFIRMATIONS, required_confirmations: CONFIRMATIONS },
        ],
      });
      expect(await balanceOf(shop, 'ETH')).toMatchObject({ balance: '0.01', held: '0' });
    });

    test('a payment in a block that is dropped steps back, and counts again when it returns', async () => {
      const { id, amount, address } = await invoice({ asset: 'ETH', amount: 30 });
      await quittance.ethereum.pay('ETH', address.address, amount);
      await quittance.ethereum.mine(2);
      await becomes(id, { status: 'confirmed', payments: [{ confirmations: 2 }] });
      await quittance.ethereum.dropBlocks(2);
      await becomes(id, { status: 'pending', pending_amount: '0', payments: [{ status: 'reversed' }] });

      await quittance.ethereum.pay('ETH', address.address, amount);
      await quittance.ethereum.mine(CONFIRMATIONS);
      await becomes(id, { status: 'paid', paid_amount: amount });
    });

    test('a paid invoice is refunded by a claim link, to the address that its payer sends', async () => {
      const { id, amount, address } = await invoice({ asset: 'ETH', amount: 40 });
      await quittance.ethereum.pay('ETH', address.address, amount);
      await quittance.ethereum.mine(CONFIRMATIONS);
      await becomes(id, { status: 'paid' });
      const { status, body } = await shop.post(`/api/invoices/${id}/refunds`, { amount: 25 });
      expect([status, body.data]).toMatchObject([201, { amount: '0.01', status: 'claimable' }]);

      const link: string = body.data.claim_url;
      const form = new URLSearchParams({ address: `0x${'c1'.repeat(20)}` });
      const sent = await fetch(link, { method: 'POST', redirect: 'manual', body: form });
      const next = new URL(sent.headers.get('location') ?? '', link).href;
      expect([sent.status, next]).toEqual([303, link]);
      await whileMining(quittance, async () =>
        expect(await read(id)).toMatchObject({ refunds: [{ id: body.data.id, status: 'completed' }] }),
      );
      await becomes(id, { status: 'paid', refunded_amount: '0.01' });
      expect(await (await fetch(link)).text()).toContain('Your refund is paid');
    });
  });
