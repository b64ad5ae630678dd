import { openFixture } from './fixture.ts';

/** The amount due of an invoice of 25 dollars: 0.0005 BTC. */
export const DUE = 50_000n;

/** A Bitcoin fixture whose invoices show their mempool payments. Closed after the last test. */
export async function openMempoolFixture() {
  const { fixture, anInvoice, pay, ...chain } = await openFixture({ chain: 'bitcoin' });
  return {
    ...chain,
    fixture,
    pay,
    mine: (to: string, amount: bigint, tx: string) => pay(to, amount, { tx }),
    async anInvoice(order: object = {}) {
      const invoice = await anInvoice({ asset: 'BTC', ...order });
      return {
        ...invoice,
        mempoolPayments: () =>
          fixture.rows('select * from mempool_payments where invoice_id = $1', [invoice.id]),
      };
    },
  };
}
