import { describe, expect, it } from '@jest/globals';
import { order, recipient, requestsSuite } from './service-fixture.ts';

const fixture = requestsSuite();

describe('GET /api/payouts/quote', () => {
  const quote = async (query: Record<string, string>) =>
    fixture.shop.get(`/api/payouts/quote?${new URLSearchParams(query)}`);
  const valid = { as_of: expect.stringMatching(/Z$/), guaranteed: false };

  it('tells what a payout would cost, and nothing is held', async () => {
    const { status, body } = await quote({ asset: 'ETH', amount: '0.5', address: recipient.toLowerCase() });
    expect([status, body]).toEqual([
      200,
      {
        amount: '0.5',
        network_fee: '0.0005',
        total: '0.5005',
        usd_rate: '2500',
        usd_value: '1250',
        promised_amount: '0',
        to_address: recipient,
        asset: { id: 2, symbol: 'ETH', name: 'Ethereum', decimals: 18 },
        valid,
      },
    ]);
    expect((await quote({ asset: 'ETH', amount: '0.5' })).body.to_address).toBeNull();
    expect(fixture.ledger.asked).toEqual([]);
  });

  it('tells what a payout of all that the balance has would send', async () => {
    fixture.ledger.available = (10n ** 18n).toString();
    const { status, body } = await quote({ asset: 'ETH', amount: 'max' });
    expect([status, body]).toMatchObject([
      200,
      { amount: '0.9995', network_fee: '0.0005', total: '1', valid },
    ]);
    fixture.ledger.available = (10n ** 14n).toString();
    expect((await quote({ asset: 'ETH', amount: 'max' })).body).toMatchObject({
      code: 'insufficient_balance',
      hint: '0.0001 ETH is available and 0.00051 ETH is needed: 0.00001 and 0.0005 network fee.',
    });
    fixture.ledger.available = undefined;
    expect((await quote({ asset: 'ETH', amount: 'max' })).status).toBe(503);
    expect(fixture.ledger.asked).toEqual([]);
  });

  it.each(['all', 'MAX', ' everything '])(
    'names max when the amount is "%s", as a payout does',
    async (amount) => {
      for (const { status, body } of [
        await quote({ asset: 'ETH', amount }),
        await fixture.shop.post({ ...order, amount }),
      ]) {
        expect([status, body.hint]).toEqual([
          422,
          'Give "max" to pay out all that the balance has after the network fee.',
        ]);
      }
    },
  );

  it('refuses what a payout would be refused for', async () => {
    const { status, body } = await quote({ asset: 'ETH', amount: '0', address: 'x', external_id: 'a' });
    const errors = {
      amount: ['The amount must be at least 0.00001.'],
      address: ['The selected address is invalid.'],
      external_id: ['The external id field is not known.'],
    };
    expect([status, body.errors]).toEqual([422, errors]);
    fixture.board.isFresh = false;
    expect((await quote({ asset: 'ETH', amount: '1' })).status).toBe(503);
  });
});
