import { describe, expect, it } from '@jest/globals';
import { newInvoiceId, type PayoutId } from '@quittance/shared/ids';
import type { FiatRate, Quote } from '@quittance/shared/quotes';
import { aFiatRate } from '@quittance/testkit/builders';
import { claimHashOf } from '../src/claim-token.ts';
import { FINNEY, refundsSuite } from './refunds-fixture.ts';
import { recipient as address } from './service-fixture.ts';

const at = refundsSuite();
const { anInvoice, refund, shown, cancel, aLink, fail, expireLink, told } = at;

describe('POST /api/invoices/{id}/refunds', () => {
  it.each([
    ['all that was paid', { amount: 'all' }, '0.05', '0.05'],
    ['the overpayment', { amount: 'surplus' }, '0.01', '0.01'],
    ['an amount of dollars', { amount: 12.5 }, '0.005', '0.005'],
    ['all at the rate of now', { amount: 'all', rate: 'now' }, '0.05', '0.025'],
    ['an amount of dollars at the rate of now', { amount: '12.50', rate: 'now' }, '0.005', '0.0025'],
  ])('pays %s to an address', async (_, body, share, amount) => {
    at.fixture.board.set('ETH', { usd_rate: '5000' });
    const invoice = anInvoice();
    const notes = { external_id: 'return 7', metadata: { by: 'ada' } };
    const answer = await refund(invoice, { ...body, ...notes, address });
    expect([answer.status, answer.body.data]).toMatchObject([
      201,
      { status: 'pending', invoice_id: invoice, deposit_id: null, share, amount, claim_url: null, ...notes },
    ]);
    const { id, payout_id } = answer.body.data;
    const payout = (await at.fixture.shop.get(`/api/payouts/${payout_id}`)).body;
    expect(payout).toMatchObject({ amount, network_fee: '0.0005', to_address: address, ...notes });
    expect(payout).toMatchObject({ refund_id: id, invoice_id: invoice, deposit_id: null });
    expect((await at.fixture.shop.get(`/api/payouts?refund_id=${id}`)).body.data).toEqual([payout]);
    expect((await at.fixture.shop.get(`/api/payouts?invoice_id=${invoice}`)).body.data).toEqual([payout]);
    expect(at.fixture.ledger.asked).toMatchObject([{ payout_id: String(payout_id), deposit_id: null }]);
    expect(await told(id)).toEqual(['pending']);
  });

  it('refunds never more than was paid when many requests arrive at once', async () => {
    const invoice = anInvoice();
    const links = Array.from({ length: 8 }, () => refund(invoice, { amount: 25 }));
    const payouts = Array.from({ length: 8 }, () => refund(invoice, { amount: 25, address }));
    const answers = await Promise.all([...links, ...payouts]);
    // 125 dollars were paid.
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    for (const { status, body } of answers.filter((one) => one.status !== 201)) {
      expect([status, body]).toMatchObject([400, { code: 'nothing_to_refund' }]);
    }
    const { sum } = await at.fixture.db.one<{ sum: string }>(
      `select sum(share) from refunds where invoice_id = $1 and state in ('claimable', 'pending')`,
      [invoice],
    );
    expect(BigInt(sum)).toBe(50n * FINNEY);
  });

  it('refunds the overpayment once when many requests of it arrive at once, beside an amount', async () => {
    const invoice = anInvoice();
    const wanted = ['surplus', 20, 'surplus', 'surplus', 10, 'surplus'];
    const answers = await Promise.all(wanted.map((amount) => refund(invoice, { amount })));
    const made = answers.flatMap(({ body }) => body.data ?? []);
    const shares = made.map(({ requested, share }) => `${requested}: ${share}`).sort();
    expect(shares).toEqual(['10: 0.004', '20: 0.008', 'surplus: 0.01']);
  });

  it('says how much was refunded when nothing or too little is left', async () => {
    const invoice = anInvoice();
    expect((await refund(invoice, { amount: 100 })).status).toBe(201);
    const hint = '0.05 ETH was paid: 0 ETH of it was refunded, and open claim links promise 0.04 ETH';
    const links = ` GET /api/refunds?invoice_id=${invoice}&status=claimable lists the links, and POST /api/refunds/{id}/cancel cancels one.`;
    const tooLarge = await refund(invoice, { amount: 25.01 });
    expect([tooLarge.status, tooLarge.body]).toMatchObject([
      400,
      {
        code: 'refund_too_large',
        hint: `${hint}: at most 0.01 ETH (25 USD) is left. "all" refunds it.${links}`,
      },
    ]);
    const surplus = await refund(invoice, { amount: 'surplus' });
    expect([surplus.status, surplus.body.data]).toMatchObject([201, { share: '0.01' }]);
    const again = await refund(invoice, { amount: 'surplus' });
    expect([again.status, again.body]).toMatchObject([
      400,
      {
        code: 'nothing_to_refund',
        hint: `${hint.replace('0.04', '0.05')}, and 0.04 ETH was due.${links}`,
      },
    ]);
    const cancelled = await cancel(surplus.body.data.id);
    expect(cancelled.status).toBe(200);
    expect((await refund(invoice, { amount: 'all', address })).status).toBe(201);
    expect((await refund(invoice, { amount: 'all' })).body).toMatchObject({
      code: 'nothing_to_refund',
      hint: `${hint.replace('0 ETH', '0.01 ETH')}.${links}`,
    });
  });

  it('counts no refund that was refused, has failed, has expired or was cancelled, and says what was refunded', async () => {
    const invoice = anInvoice();
    at.fixture.ledger.reply = () => ({ outcome: 'refused' });
    for (const replayed of [undefined, 'true']) {
      const poor = await refund(
        invoice,
        { amount: 'all', address },
        { 'idempotency-key': `${invoice} poor` },
      );
      expect([poor.status, poor.body]).toMatchObject([400, { code: 'insufficient_balance' }]);
      expect(poor.headers['idempotent-replayed']).toBe(replayed);
    }
    at.fixture.ledger.reply = () => ({ outcome: 'voided' });
    expect((await refund(invoice, { amount: 'all', address })).status).toBe(503);
    at.fixture.ledger.reply = () => ({ outcome: 'placed' });
    expect((await at.fixture.shop.get('/api/refunds')).body.data).toEqual([]);

    const failed = (await refund(invoice, { amount: 'all', address })).body.data;
    await fail(String(failed.payout_id) as PayoutId);
    expect(await shown(failed.id)).toMatchObject({ status: 'failed', payout_id: failed.payout_id });
    const late = await aLink({ amount: 'all' }, invoice);
    await expireLink(late.refundId);
    expect(await shown(late.refundId)).toMatchObject({ status: 'expired' });
    const cancelled = await aLink({ amount: 'all' }, invoice);
    expect(await told(late.refundId)).toEqual(['claimable', 'expired']);
    const done = await cancel(cancelled.refundId);
    expect([done.status, done.body.data]).toMatchObject([200, { status: 'cancelled' }]);
    expect((await refund(invoice, { amount: 'all', address })).status).toBe(201);
    const { hint } = (await refund(invoice, { amount: 'all', address })).body;
    expect(hint).toBe('0.05 ETH was paid, 0.05 ETH of it was refunded.');
    const listed = (await at.fixture.shop.get(`/api/refunds?invoice_id=${invoice}&status=expired`)).body;
    expect(listed.data).toMatchObject([{ id: late.refundId }]);
  });

  it('answers a repeated key alike, with the claim link', async () => {
    const invoice = anInvoice();
    for (const body of [{ amount: 25 }, { amount: 25, address }]) {
      const key = { 'idempotency-key': `${invoice} ${JSON.stringify(body)}` };
      const both = await Promise.all([refund(invoice, body, key), refund(invoice, body, key)]);
      const first = both.find(
        ({ status, headers }) => status === 201 && headers['idempotent-replayed'] === undefined,
      );
      const again = await refund(invoice, body, key);
      expect([again.status, again.body]).toEqual([201, first?.body]);
      if ('address' in body) expect(again.body.data.claim_url).toBeNull();
      else expect(again.body.data.claim_url).toContain('/claim/');
      expect(again.headers['idempotent-replayed']).toBe('true');
      const other = await refund(invoice, { ...body, amount: 26 }, key);
      expect(other.status).toBe(422);
    }
    expect((await at.fixture.shop.get(`/api/refunds?invoice_id=${invoice}`)).body.data).toHaveLength(2);
  });

  it('does not promise that nothing was done when the answer to the commit of a link is lost', async () => {
    const invoice = anInvoice();
    const replicas = at.fixture.replicas().map(({ ports }) => ({ ports, db: ports.db }));
    for (const { ports, db } of replicas) {
      const lossy: typeof db.transaction = async (run) => {
        await db.transaction(run);
        throw new Error('Connection terminated unexpectedly');
      };
      ports.db = { ...db, transaction: lossy };
    }
    const { status } = await refund(invoice, { amount: 'all' });
    for (const { ports, db } of replicas) {
      ports.db = db;
      ports.wakeRelay();
    }
    expect(status).toBe(500);
    expect((await at.fixture.shop.get(`/api/refunds?invoice_id=${invoice}`)).body.data).toMatchObject([
      { status: 'claimable' },
    ]);
  });

  it('refunds nothing of an invoice in euros that has no rate of the euro', async () => {
    const refundTen = async (rate: object) =>
      await refund(anInvoice({ currency: 'EUR', ...rate }), { amount: 10, address });
    expect((await refundTen({})).status).toBe(500);
    expect(at.fixture.ledger.asked).toEqual([]);
    expect((await refundTen({ fiat_rate: '1.25' })).body.data).toMatchObject({ amount: '0.005' });
  });

  const euroNow = aFiatRate('EUR', '1.5', new Date('2026-01-02T03:04:05.000Z'));

  it.each([
    ['20 euros', { amount: 20 }, '0.01', '0.006'],
    ['all', { amount: 'all' }, '0.05', '0.03'],
    ['the overpayment', { amount: 'surplus' }, '0.01', '0.006'],
  ])('pays %s of an invoice in euros at the rate of the euro of now', async (_, body, share, amount) => {
    at.fixture.board.set('ETH', { usd_rate: '5000' });
    at.fixture.board.fiatRates.set('EUR', euroNow);
    for (const to of [{}, { address }]) {
      const invoice = anInvoice({ currency: 'EUR', fiat_rate: '1.25' });
      const made = (await refund(invoice, { ...body, ...to, rate: 'now' })).body.data;
      const rateOf = ({ usd_rate, as_of, sources }: Quote | FiatRate) => ({ usd_rate, as_of, sources });
      const rates_now = {
        currency: { code: 'EUR', ...rateOf(euroNow) },
        asset: { symbol: 'ETH', ...rateOf(at.fixture.board.latest('ETH') as Quote) },
      };
      expect(made).toMatchObject({ share, amount, rates_now });
      expect(await shown(made.id)).toMatchObject({ share, amount, rates_now });
      const worth = body.amount === 'all' ? '100.00' : '20.00';
      const asked = { currency: 'EUR', amount_fiat: worth, requested: String(body.amount) };
      expect([made, await shown(made.id)]).toMatchObject([asked, asked]);
    }
  });

  it('refunds at the rate then alone while the currency of the invoice has no rate', async () => {
    const invoice = anInvoice({ currency: 'EUR', fiat_rate: '1.25' });
    for (const to of [{}, { address }]) {
      const now = await refund(invoice, { amount: 10, rate: 'now', ...to });
      expect([now.status, now.body.hint]).toEqual([
        503,
        'There is no exchange rate of EUR at the moment. Send the request again later, or refund at the rate "then".',
      ]);
    }
    expect(at.fixture.ledger.asked).toEqual([]);
    for (const to of [{}, { address }]) {
      const then = await refund(invoice, { amount: 10, ...to });
      expect([then.status, then.body.data]).toMatchObject([201, { amount: '0.005', rates_now: null }]);
    }
  });

  it('keeps the rate of the asset with a refund of an invoice in dollars at the rate of now', async () => {
    at.fixture.board.set('ETH', { usd_rate: '5000' });
    const { body } = await refund(anInvoice(), { amount: 'all', rate: 'now' });
    expect(body.data.rates_now).toMatchObject({
      currency: { code: 'USD', usd_rate: '1', as_of: null, sources: [] },
      asset: { symbol: 'ETH', usd_rate: '5000' },
    });
  });

  it('adds no payout without a refund to the index of one payout for each refund', async () => {
    const { text } = await at.fixture.db.one<{ text: string }>(
      `select indexdef as text from pg_indexes where indexname = 'payouts_one_of_refund'`,
    );
    expect(text).toContain('refund_id IS NOT NULL');
  });

  it('stores the hash of the token alone', async () => {
    const { refundId, token } = await aLink();
    const row = await at.fixture.db.one<{ hash: Buffer; text: string }>(
      `select claim_hash as hash, (select string_agg(r::text, '') from refunds r) || (select coalesce(string_agg(k::text, ''), '')
         from idempotency_keys k) as text from refunds where id = $1`,
      [refundId],
    );
    expect(row.hash).toEqual(claimHashOf(token));
    expect(row.text).not.toContain(token);
  });

  it('refuses what is not there, of another account, not paid, or not valid, in this order', async () => {
    const body = { amount: 'all', address };
    const none = await refund(newInvoiceId(), body);
    expect([none.status, none.body.message]).toEqual([404, 'No query results for model [Invoice].']);
    expect((await refund('%00', body)).status).toBe(404);
    const invoice = anInvoice();
    expect((await refund(invoice, { amount: 0 }, {}, at.fixture.newClient())).status).toBe(403);
    const open = await refund(anInvoice({ status: 'partially_paid' }), body);
    expect([open.status, open.body]).toMatchObject([400, { code: 'nothing_to_refund' }]);
    at.invoices.isSilent = true;
    expect((await refund(invoice, body)).status).toBe(503);
    expect(at.fixture.ledger.asked).toEqual([]);
  });

  it.each([
    [{}, { amount: ['The amount field is required.'] }],
    [{ amount: 'half' }, { amount: ['The amount must be a number.'] }],
    [{ amount: 0 }, { amount: ['The amount must be at least 0.01.'] }],
    [{ amount: 1.001 }, { amount: ['The amount must not have more than 2 decimal places.'] }],
    [{ amount: 0.02 }, { amount: ['The selected amount is invalid.'] }],
    [{ amount: 'all', rate: 'later' }, { rate: ['The selected rate is invalid.'] }],
    [{ amount: 'all', address: 'x' }, { address: ['The selected address is invalid.'] }],
    [
      { amount: 'all', address, expires_in_days: 3 },
      { expires_in_days: ['The expires in days field is for claim links only.'] },
    ],
    [
      { amount: 'all', expires_in_days: 91 },
      { expires_in_days: ['The expires in days must not be greater than 90.'] },
    ],
    [{ amount: 'all', to: address }, { to: ['The to field is not known.'] }],
    [{ amount: 'all', insufficientBalance: 1 }, { insufficientBalance: [expect.any(String)] }],
  ])('refuses %j', async (body, errors) => {
    const { status, body: answered } = await refund(anInvoice(), body);
    expect([status, answered]).toMatchObject([422, { errors }]);
  });
});
