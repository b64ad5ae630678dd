import { afterAll, expect, test } from '@jest/globals';
import { checkWebhook } from '@quittance/testkit/documented-answers';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { Webhook } from 'standardwebhooks';
import type { OnStack } from './on-stack.ts';

const EXPIRES_WITHIN_MS = 90_000;
/** A signature is valid for five minutes. */
const SIGNED_BEFORE_MS = 5 * 60_000;

/** One test makes an invoice, other cases pass the minute until it expires, and another test looks at it. */
export function invoiceThatNobodyPays(stack: OnStack): { isMade(): void; hasExpired(): void } {
  let receiver: Receiver;
  let shop: Merchant;
  let webhook: Webhook;
  let id: string;
  return {
    isMade: () =>
      test('an invoice with a minute to pay is made', async () => {
        receiver = await startReceiver(checkWebhook);
        shop = await stack().merchant();
        const made = await shop.post('/api/webhooks', {
          url: `${receiver.url}/hook`,
          events: ['invoice.expired'],
        });
        webhook = new Webhook(made.body.data.secret);
        const invoice = await shop.post('/api/invoices', { asset: 'ETH', amount: 10, expires_in: 1 });
        expect(invoice.status).toBe(201);
        id = invoice.body.data.id;
      }),
    hasExpired() {
      afterAll(() => receiver?.close());
      test('the invoice that nobody paid expires, and its webhook says so', async () => {
        const [one] = await eventually(() => {
          expect(receiver.received).toHaveLength(1);
          return receiver.received;
        }, EXPIRES_WITHIN_MS);
        // As `verify` does, but for the time when it came: other cases may have taken longer than a signature is valid.
        const {
          'webhook-id': name,
          'webhook-timestamp': seconds,
          'webhook-signature': signature,
        } = one?.headers ?? {};
        const sentAt = new Date(Number.parseInt(String(seconds), 10) * 1_000); // eslint-disable-line no-restricted-syntax -- seconds
        expect(String(signature).split(' ')).toContain(webhook.sign(String(name), sentAt, one?.body ?? ''));
        expect(Math.abs((one?.at.getTime() ?? 0) - sentAt.getTime())).toBeLessThan(SIGNED_BEFORE_MS);
        expect(JSON.parse(one?.body ?? '')).toMatchObject({ event: 'invoice.expired', data: { id } });
        expect((await shop.get(`/api/invoices/${id}`)).body.status).toBe('expired');
      });
    },
  };
}
