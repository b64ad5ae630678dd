import { expect, it } from '@jest/globals';
import { refundsSuite } from './refunds-fixture.ts';
import { recipient as address } from './service-fixture.ts';

const at = refundsSuite();
const { anInvoice, refund } = at;

/** 0.05 ether was paid, which was worth 18,750 yen. */
const inYen = () => anInvoice({ currency: 'JPY', fiat_rate: '0.006666666666666666' });

it.each([
  [18_749.5, { amount: ['The amount must not have more than 0 decimal places.'] }],
  ['100.00', undefined],
  ['0.4', { amount: ['The amount must not have more than 0 decimal places.'] }],
  [0, { amount: ['The amount must be at least 1.'] }],
  [-1, { amount: ['The amount must be at least 1.'] }],
  [2_000, undefined],
])('takes %p of an invoice in yen as an amount without decimals, or refuses it', async (amount, errors) => {
  for (const to of [{}, { address }]) {
    const { status, body } = await refund(inYen(), { amount, ...to });
    expect([status, body]).toMatchObject(errors === undefined ? [201, {}] : [422, { errors }]);
  }
});

it.each([
  ['USD', '1', 125.01, '0.05 ETH (125 USD)'],
  ['EUR', '1.3', 100, '0.05 ETH (96.15 EUR)'],
  ['JPY', '0.0067', 20_000, '0.05 ETH (18656 JPY)'],
] as const)(
  'says in %s how much is left when a refund is too large',
  async (currency, rate, amount, left) => {
    const invoice = anInvoice({ currency, fiat_rate: rate });
    const { status, body } = await refund(invoice, { amount });
    expect([status, body.code, body.hint]).toEqual([
      400,
      'refund_too_large',
      `0.05 ETH was paid, 0 ETH of it was refunded: at most ${left} is left. "all" refunds it.`,
    ]);
    const [, fits] = /\((\S+) /.exec(left) ?? [];
    expect((await refund(invoice, { amount: fits })).status).toBe(201);
  },
);

it('shows what a refund of all, or of the surplus, is worth in yen without decimals', async () => {
  for (const [amount, worth] of [
    ['surplus', '3731.00'],
    ['all', '18656.00'],
  ] as const) {
    const invoice = anInvoice({ currency: 'JPY', fiat_rate: '0.0067' });
    expect((await refund(invoice, { amount })).body.data).toMatchObject({ amount_fiat: worth });
  }
});
