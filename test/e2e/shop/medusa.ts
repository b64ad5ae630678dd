import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ClaimLink, QuittancePaymentProvider } from '@quittance/medusa-payment';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { CONFIRMATIONS, type OnStack } from './on-stack.ts';

/** What Medusa's payment module asks of its provider, in the order in which a checkout does. */
export const medusaCases = (stack: OnStack): void =>
  describe('the payment provider of Medusa', () => {
    let shop: Merchant;
    let receiver: Receiver;
    let provider: QuittancePaymentProvider;
    let webhookSecret: string;
    let sessions = 0;
    const links: ClaimLink[] = [];
    let isMailDown = false;

    beforeAll(async () => {
      shop = await stack().merchant();
      receiver = await startReceiver();
      webhookSecret = (await shop.post('/api/webhooks', { url: `${receiver.url}/hooks` })).body.data.secret;
      const onClaimLink = (link: ClaimLink) => {
        if (isMailDown) throw new Error('the mail server is down');
        links.push(link);
      };
      provider = new QuittancePaymentProvider(
        {},
        { ...access(), webhookSecret, assets: ['ETH'], onClaimLink },
      );
    });
    afterAll(() => receiver?.close());

    const access = () => ({ url: stack().url, token: shop.token });
    const invoice = async (id: unknown) => (await shop.get(`/api/invoices/${id}`)).body;

    /** A session as Medusa's payment module begins it. */
    async function begin(amount: number | string) {
      const session = `payses_${++sessions}`;
      const given = { amount, currency_code: 'usd', data: { session_id: session } };
      const { data } = await provider.initiatePayment(given);
      return { session, data, given };
    }
    const authorize = (session: string, data: Record<string, unknown>) =>
      provider.authorizePayment({ data, context: { idempotency_key: session } });

    async function pay(id: unknown): Promise<void> {
      const { address, amount, asset } = await invoice(id);
      await stack().ethereum.pay(asset.symbol, address.address, amount);
      await stack().ethereum.mine(CONFIRMATIONS);
      await eventually(async () => expect((await invoice(id)).status).toBe('paid'));
    }
    /** The action of the webhook of this event of an invoice. */
    async function webhook(event: string, id: unknown) {
      const arrived = await eventually(async () => {
        const found = receiver.received.find(({ body }) => {
          const sent = JSON.parse(body);
          return sent.event === event && sent.data.id === id;
        });
        if (found === undefined) throw new Error(`${event} has not arrived`);
        return found;
      });
      return { data: JSON.parse(arrived.body), rawData: arrived.body, headers: arrived.headers };
    }

    test('captures a session when its invoice is paid, and refunds it by a claim link', async () => {
      const { session, data, given } = await begin('25.004');
      expect(data).toMatchObject({ amount: '25.00', currency: 'USD', status: 'pending' });
      expect(data['url']).toBe((await invoice(data['invoice_id'])).url);
      expect((await provider.initiatePayment(given)).data).toEqual(data);
      expect(await authorize(session, data)).toMatchObject({ status: 'pending' });
      await expect(provider.capturePayment({ data })).rejects.toThrow('is pending, not paid');

      await choose(data['url'], 'ETH');
      await pay(data['invoice_id']);
      const paid = await webhook('invoice.paid', data['invoice_id']);
      expect(await provider.getWebhookActionAndData(paid)).toEqual({
        action: 'captured',
        data: { session_id: session, amount: '25.00' },
      });
      const authorized = await authorize(session, data);
      expect(authorized.status).toBe('captured');
      await provider.capturePayment(authorized);
      await expect(provider.cancelPayment(authorized)).rejects.toThrow('Refund it instead.');

      const refund = { ...authorized, amount: 10, context: { idempotency_key: 'ref_1' } };
      const refunded = await provider.refundPayment(refund);
      const [link] = links;
      expect(link).toMatchObject({ amount: '10.00', sessionId: session, invoiceId: data['invoice_id'] });
      expect(link?.claimUrl).toContain('/claim/');
      expect(refunded.data['refunds']).toEqual([{ id: link?.refundId, amount: '10.00' }]);
      // The storefront can read it.
      expect(JSON.stringify(refunded)).not.toContain('/claim/');
      expect(await provider.refundPayment({ ...refund, ...refunded })).toEqual(refunded);

      isMailDown = true;
      const another = { ...refund, context: { idempotency_key: 'ref_2' } };
      await expect(provider.refundPayment(another)).rejects.toThrow('the mail server is down');
      isMailDown = false;
      // The invoice hears of refunds a moment after they have changed.
      await eventually(async () => {
        const { refunds } = await invoice(data['invoice_id']);
        const statuses = refunds.map(({ status }: { status: string }) => status);
        expect(statuses.sort()).toEqual(['cancelled', 'claimable']);
      });
      expect(await authorize(session, data)).toMatchObject({ status: 'error' });
    });

    test('does not take the paid invoice of another session', async () => {
      const paid = await begin(5);
      await choose(paid.data['url'], 'ETH');
      await pay(paid.data['invoice_id']);
      const other = await begin(500);
      await expect(authorize(other.session, paid.data)).rejects.toThrow('is not of the payment session');
      const foreign = { ...paid.data, session_id: other.session };
      await expect(authorize(other.session, foreign)).rejects.toThrow('is not of the payment session');
      await expect(provider.authorizePayment({ data: paid.data })).rejects.toThrow('no id of the payment');
    });

    test('creates another invoice for another price, and ends the former one', async () => {
      const { session, data, given } = await begin(20);
      const same = await provider.updatePayment({ ...given, data });
      expect(same.data).toEqual(data);
      const dearer = await provider.updatePayment({ ...given, amount: 30, data });
      expect(dearer.data).toMatchObject({ session_id: session, amount: '30.00' });
      expect((await invoice(data['invoice_id'])).status).toBe('expired');
      const back = await provider.updatePayment({ ...given, data: dearer.data });
      expect(back.data).toMatchObject({ amount: '20.00', status: 'pending' });
      expect(back.data['invoice_id']).not.toBe(data['invoice_id']);
      await provider.deletePayment(back);
      expect(await provider.getPaymentStatus(back)).toMatchObject({ status: 'canceled' });
    });

    test('refuses webhooks that are not signed, and does nothing at those of other invoices', async () => {
      const { id } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 5 })).body.data;
      const created = await webhook('invoice.created', id);
      expect(await provider.getWebhookActionAndData(created)).toEqual({ action: 'not_supported' });
      const forged = { ...created, rawData: created.rawData.replace(id, 'inv_forged') };
      await expect(provider.getWebhookActionAndData(forged)).rejects.toThrow('No signature matches.');
      const { data } = await begin(5);
      expect(
        await provider.getWebhookActionAndData(await webhook('invoice.created', data['invoice_id'])),
      ).toMatchObject({ action: 'not_supported' });
    });

    test('names the option that is missing', () => {
      const options = { ...access(), webhookSecret: '' };
      expect(() => QuittancePaymentProvider.validateOptions(options)).toThrow('webhookSecret is missing');
    });

    /** What the customer does on the payment page. */
    async function choose(url: unknown, asset: string): Promise<void> {
      const body = new URLSearchParams({ asset });
      const answer = await fetch(`${url}/choose`, { method: 'POST', body, redirect: 'manual' });
      expect(answer.status).toBe(303);
    }
  });
