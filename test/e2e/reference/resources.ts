import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { type Merchant, merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';

export type Resources = ReturnType<typeof resourcesOf>;

/** What the operations of the reference are about: each call makes a resource of its own, in the state that they need. */
export function resourcesOf(quittance: Quittance, shop: Merchant, hook: string) {
  const id = async (path: string, body: object): Promise<string> => {
    const answer = await shop.post(path, body);
    expect([path, answer.status]).toEqual([path, 201]);
    return String(answer.body.data.id);
  };
  const to = () => quittance.ethereum.newAddress();
  const order = async (amount: number) => ({ asset: 'ETH', amount, address: await to() });
  const invoice = () => id('/api/invoices', { asset: 'ETH', amount: 25 });

  async function pay(invoiceId: string): Promise<void> {
    const { body } = await shop.get(`/api/invoices/${invoiceId}`);
    await quittance.ethereum.pay('ETH', body.address.address, body.amount);
    await quittance.ethereum.mine(2);
  }

  async function paidInvoice(dollars: number): Promise<string> {
    const made = await id('/api/invoices', { asset: 'ETH', amount: dollars });
    await pay(made);
    await eventually(async () => {
      await quittance.ethereum.mine();
      expect((await shop.get(`/api/invoices/${made}`)).body.status).toBe('paid');
    });
    return made;
  }

  /** Funds that came after their invoice was cancelled. */
  async function unresolved(): Promise<string> {
    const made = await invoice();
    expect((await shop.post(`/api/invoices/${made}/cancel`, {})).status).toBe(200);
    await pay(made);
    return await eventually(async () => {
      await quittance.ethereum.mine();
      const { body } = await shop.get(`/api/unresolved?invoice_id=${made}`);
      expect(body.data).toHaveLength(1);
      return String(body.data[0].id);
    });
  }

  const endpoint = () => id('/api/webhooks', { url: hook });
  /** A test event that has arrived: while it is sent, it cannot be sent again. */
  async function tested(): Promise<{ delivery_id: string; event: { id: string } }> {
    const { data } = (await shop.post(`/api/webhooks/${await endpoint()}/test`, {})).body;
    await eventually(async () =>
      expect((await shop.get(`/api/deliveries/${data.delivery_id}`)).body.status).toBe('delivered'),
    );
    return data;
  }

  /** A payout that another token of the account has requested, and that waits for an approval. */
  async function waitingPayout(): Promise<string> {
    const { token } = (await shop.post('/api/tokens', { name: 'payroll' })).body.data;
    const limited = async (limits: object[]) =>
      expect((await shop.put('/api/payout-policy', { delay_hours: 0, limits })).status).toBe(200);
    await limited([{ asset: 'ETH', approval_above: 0 }]);
    const made = await merchant(quittance.url, shop.id, token).post('/api/payouts', await order(0.01));
    await limited([]);
    return String(made.body.data.id);
  }

  let recipients = 0;
  /** An address that was sent its code long enough ago for another one. */
  async function recipient(): Promise<string> {
    recipients += 1;
    const address = `till${recipients}@${shop.id.replace('_', '-')}.example`;
    const made = await id('/api/mail-recipients', { address });
    const earlier = `update webhooks.mail_codes set requested_at = requested_at - interval '1 hour' where address = $1`;
    await quittance.db.rows(earlier, [address]);
    return made;
  }

  /** The code that was sent to a recipient, which the stack has written to a file. */
  async function mailCode(recipientId: string): Promise<string> {
    const { address } = (await shop.get(`/api/mail-recipients/${recipientId}`)).body;
    const { mailFolder } = quittance.stack;
    return await eventually(async () => {
      const files = (await readdir(mailFolder)).filter((name) => name.endsWith('.eml'));
      const mails = await Promise.all(files.map((name) => readFile(join(mailFolder, name), 'utf8')));
      const codes = mails
        .filter((mail) => mail.includes(`To: ${address}`))
        .flatMap((mail) => /^Code: (\S+)/m.exec(mail)?.[1] ?? []);
      expect(codes).toHaveLength(1);
      return String(codes[0]);
    });
  }

  async function confirmedRecipient(): Promise<string> {
    const made = await recipient();
    const code = await mailCode(made);
    expect((await shop.post(`/api/mail-recipients/${made}/confirm`, { code })).status).toBe(200);
    return made;
  }

  return {
    recipient,
    mailCode,
    confirmedRecipient,
    invoice,
    paidInvoice,
    unresolved,
    endpoint,
    token: () => id('/api/tokens', { name: 'till' }),
    link: () => id('/api/payment-links', { description: 'Donation' }),
    claim: async (paid: string) => await id(`/api/invoices/${paid}/refunds`, { amount: 5 }),
    waitingPayout,
    address: async () =>
      await id('/api/address-book', { chain: 'ethereum', address: await to(), label: 'Treasury' }),
    payout: async (amount: number) => await id('/api/payouts', await order(amount)),
    batch: async () => await id('/api/payout-batches', { mode: 'each', payouts: [await order(0.01)] }),
    delivery: async () => (await tested()).delivery_id,
    event: async () => (await tested()).event.id,
  };
}
