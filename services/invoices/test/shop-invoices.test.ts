import { describe, expect, it } from '@jest/globals';
import { newInvoiceId } from '@quittance/shared/ids';
import { api } from '@quittance/testkit/api';
import { eventually } from '@quittance/testkit/eventually';
import { describeInvoice } from '../src/operations/describe-invoice.ts';
import { DUE, type Fixture, MINUTE, openFixture } from './fixture.ts';

const { fixture, anInvoice, pay, pass, settle } = await openFixture();

describe('an invoice that a shop works with', () => {
  it('shows its description to the customer as text, and its metadata to the merchant alone', async () => {
    const description = '<b onclick="x">5 & 6</b>';
    const metadata = JSON.parse('{"order 10":" 7 ","order 9":"","__proto__":"x"}');
    const { id, read, last } = await anInvoice({ description, metadata });
    const text = JSON.stringify((await read()).metadata);
    expect(text).toBe(JSON.stringify(metadata));
    expect((await last())?.payload.data).toMatchObject({ description });
    expect(JSON.stringify((await last())?.payload.data.metadata)).toHaveLength(text.length);
    const { body } = await api(fixture.service.port, 'GET', `/pay/${id}`, { now: fixture.clock.now() });
    expect(body).toContain('<dd dir="auto">&lt;b onclick=&quot;x&quot;&gt;5 &amp; 6&lt;/b&gt;</dd>');
    expect(body).not.toContain('order 10');
  });

  it('asks in its URI for what remains, and for nothing more when enough was seen', async () => {
    const { shown, to, read } = await anInvoice({ currency: 'USD' });
    const uri = (value: bigint) => ({ address: { uri: `ethereum:${shown}@31337?value=${value}` } });
    expect(await read()).toMatchObject({ currency: 'USD', amount_remaining: '0.01', ...uri(DUE) });
    await pay(to, DUE / 4n);
    expect(await read()).toMatchObject({
      status: 'partially_paid',
      amount_remaining: '0.0075',
      ...uri((DUE * 3n) / 4n),
    });
    await pass(1_000);
    await pay(to, DUE);
    expect(await read()).toMatchObject({
      status: 'confirmed',
      amount_remaining: '0',
      address: { address: shown, uri: shown },
    });
  });
});

describe('GET /api/invoices', () => {
  /** The ids that a search of a merchant finds. */
  async function found(merchant: ReturnType<Fixture['merchant']>, query: string): Promise<string[]> {
    const { status, body } = await merchant.get(`/api/invoices?${query}`);
    expect(status).toBe(200);
    return body.data.map(({ id }: { id: string }) => id);
  }

  it('finds invoices by the beginning of their external id, by amount, address and transaction', async () => {
    const shop = fixture.merchant();
    const first = await shop.invoice({ external_id: '50%_a', amount: 25 });
    const second = await shop.invoice({ external_id: '50%_b', amount: '25.01' });
    const third = await shop.invoice({ external_id: '50x_b' });
    const { tx } = await pay(third.address.address.toLowerCase(), DUE);
    const isFound = async (query: string, ...expected: { id: string }[]) =>
      expect((await found(shop, query)).sort()).toEqual(expected.map(({ id }) => id).sort());
    await isFound('external_id_prefix=50', third, second, first);
    await isFound('external_id_prefix=50%25_', second, first);
    await isFound('external_id=50%25_b', second);
    await isFound('amount_fiat=25.010', second);
    await isFound('amount_fiat=25&external_id_prefix=50x', third);
    await isFound(`address=${second.address.address}`, second);
    await isFound(`address=${second.address.address.toLowerCase()}&asset=ETH`, second);
    await isFound(`tx_hash=${tx}`, third);
    await isFound(`tx_hash=${tx}&status=pending`);
    expect(await found(fixture.merchant(), `address=${first.address.address}`)).toEqual([]);
    const { body } = await shop.get('/api/invoices?amount_fiat=25.001');
    expect(body.errors).toEqual({ amount_fiat: ['The selected amount fiat is invalid.'] });
  });

  it('shows items as one invoice is shown, with expand=payments', async () => {
    const shop = fixture.merchant();
    const { id, address } = await shop.invoice({ metadata: { a: 'b' } });
    fixture.pass(1);
    await shop.invoice();
    await pay(address.address.toLowerCase(), DUE);
    const whole = await shop.read(id);
    expect(whole.payments).toHaveLength(1);
    for (const expand of ['expand=payments', 'expand[]=payments', 'expand%5B%5D=payments']) {
      const { body } = await shop.get(`/api/invoices?status=confirmed&${expand}`);
      expect(body.data).toStrictEqual([whole]);
    }
    const { links } = (await shop.get('/api/invoices?perPage=1&expand[]=payments')).body;
    expect((await shop.get(links.next.replace('https://pay.example', ''))).body.data).toStrictEqual([whole]);
    const wrong = await shop.get('/api/invoices?expand=payment');
    expect(wrong).toMatchObject({ status: 422, body: { hint: expect.stringContaining('payments') } });
    const more = await shop.get('/api/invoices?expand=payments,refunds');
    expect(more).toMatchObject({ status: 422, body: { hint: 'Name each value once. Valid: payments.' } });
  });
});

describe('GET /api/invoices?format=csv', () => {
  /** The lines of a file without its end, and its answer. */
  async function exported(shop: ReturnType<Fixture['merchant']>, query = '') {
    const answer = await shop.get(`/api/invoices?format=csv${query}`);
    return { ...answer, lines: String(answer.body).trimEnd().split('\r\n') };
  }

  it('is a file of all that match, whose credited amounts are those of paid invoices', async () => {
    const shop = fixture.merchant();
    const paid = await shop.invoice({
      external_id: '@SUM(A1)',
      description: '1", two',
      metadata: { a: 'b' },
    });
    fixture.pass(1);
    const partial = await shop.invoice({ amount: '25.5' });
    fixture.pass(1);
    const cancelled = await shop.invoice({ external_id: '7' });
    await shop.post(`/api/invoices/${cancelled.id}/cancel`, {});
    await pay(paid.address.address.toLowerCase(), DUE + DUE / 3n);
    await pay(partial.address.address.toLowerCase(), DUE / 2n);
    await settle();
    const { status, headers, lines } = await exported(shop);
    expect([status, headers['content-disposition']]).toEqual([200, 'attachment; filename="invoices.csv"']);
    expect(lines[0]).toBe(
      'id,external_id,created_at,status,paid_at,expires_at,cancelled_at,currency,amount_fiat,currency_usd_rate,asset,usd_rate,amount,' +
        'paid_amount,pending_amount,reversed_amount,credited_amount,credited_usd,refunded_amount,payment_link_id,description,metadata',
    );
    const [first, second, third] = await Promise.all(
      [cancelled, partial, paid].map(({ id }) => shop.read(id)),
    );
    expect(lines.slice(1)).toEqual([
      `${first.id},7,${first.created_at},expired,,${first.expires_at},${first.cancelled_at},USD,25.00,1,ETH,2500,0.01,` +
        '0,0,0,0,0.00,0,,,{}',
      `${second.id},,${second.created_at},partially_paid,,${second.expires_at},,USD,25.50,1,ETH,2500,0.0102,` +
        '0.005,0,0,0,0.00,0,,,{}',
      // 0.01333… ETH at 2,500 dollars, rounded down.
      `${third.id},'@SUM(A1),${third.created_at},paid,${third.paid_at},${third.expires_at},,USD,25.00,1,ETH,2500,0.01,` +
        `${third.paid_amount},0,0,${third.paid_amount},33.33,0,,"1"", two","{""a"":""b""}"`,
    ]);
    expect(third.paid_amount).toMatch(/^0\.013{10}/);
    expect((await exported(shop, '&status=paid&external_id_prefix=@')).lines).toEqual([lines[0], lines[3]]);
    expect((await exported(fixture.merchant())).lines).toEqual([lines[0]]);
  });

  it('has more rows than are read at a time, each once and newest first', async () => {
    const shop = fixture.merchant();
    const { id } = await shop.invoice();
    await fixture.rows(
      `insert into invoices select copy.* from invoices i, generate_series(1, 1200) as n,
         jsonb_populate_record(i, jsonb_build_object('id', 'inv_many_' || lpad(n::text, 4, '0'))) as copy
       where i.id = $1`,
      [id],
    );
    const { lines } = await exported(shop, '&asset=ETH');
    const ids = lines.slice(1).map((line) => line.split(',')[0]);
    const expected = await fixture.rows('select id from invoices where account_id = $1 order by id desc', [
      shop.account,
    ]);
    expect(ids).toEqual(expected.map((row) => row.id));
    expect(ids).toHaveLength(1_201);
  });

  it('422: a part of the list cannot be chosen, also where only the client accepts CSV', async () => {
    const shop = fixture.merchant();
    const call = { account: shop.account, now: fixture.clock.now(), headers: { accept: 'text/csv' } };
    const path = '/api/invoices?page=2&perPage=5&expand=payments';
    const refused = await api(fixture.service.port, 'GET', path, call);
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ['page', 'perPage', 'expand']]);
    expect(refused.body.hint).toContain('all rows');
    expect((await shop.get(`${path}&format=json`)).status).toBe(200);
    expect((await shop.get('/api/invoices?format=pdf')).status).toBe(422);
  });
});

describe('POST /api/invoices/{id}/cancel', () => {
  const cancel = (shop: ReturnType<Fixture['merchant']>, id: string, body: object = {}) =>
    shop.post(`/api/invoices/${id}/cancel`, body);

  it.each([60, null])(
    'expires a pending invoice of %p minutes at once, and later money is late',
    async (minutes) => {
      const shop = fixture.merchant();
      await shop.patch('/api/invoice-settings', { expires_in: minutes });
      const { id, address } = await shop.invoice();
      fixture.pass(1_000);
      const now = fixture.clock.at.toISOString();
      const first = await cancel(shop, id);
      const cancelled = { status: 'expired', cancelled_at: now, expires_at: now, amount_remaining: '0.01' };
      expect(first).toMatchObject({ status: 200, body: { data: { id, ...cancelled } } });
      fixture.pass(1_000);
      expect((await cancel(shop, id)).body).toStrictEqual(first.body);
      const kinds = async () => (await fixture.told(id)).map(({ kind }) => kind);
      expect(await kinds()).toEqual(['invoice.created', 'invoice.expired']);
      expect((await fixture.told(id)).at(-1)?.payload.data).toStrictEqual(first.body.data);
      const page = await api(fixture.service.port, 'GET', `/pay/${id}`, { now: fixture.clock.now() });
      expect(page.body).toContain('The shop has cancelled this payment.');
      await pay(address.address.toLowerCase(), DUE);
      expect((await kinds()).at(-1)).toBe('invoice.late_payment');
      expect(await shop.read(id)).toMatchObject({
        ...cancelled,
        paid_amount: '0',
        payments: [{ amount: '0.01' }],
      });
    },
  );

  it('refuses an invoice of which a payment was seen, or that has expired', async () => {
    const shop = fixture.merchant();
    const seen = await shop.invoice();
    const over = await shop.invoice({ expires_in: 1 });
    await pay(seen.address.address.toLowerCase(), DUE / 4n);
    await pass(2 * MINUTE);
    const refused = (message: string) => ({ status: 400, body: { code: 'not_cancelable', message } });
    expect(await cancel(shop, seen.id)).toMatchObject(
      refused('A payment of the invoice was seen, so it cannot be cancelled.'),
    );
    expect(await cancel(shop, over.id)).toMatchObject(
      refused('The invoice has expired, so it cannot be cancelled.'),
    );
    expect(await shop.read(seen.id)).toMatchObject({ status: 'partially_paid', cancelled_at: null });
  });

  it('asks for an invoice of the caller, and for no fields', async () => {
    const shop = fixture.merchant();
    const { id } = await shop.invoice();
    const body = { reason: 'x' };
    expect(await cancel(shop, `inv_${'0'.repeat(36)}`, body)).toMatchObject({ status: 404 });
    expect(await cancel(fixture.merchant(), id, body)).toMatchObject({ status: 403 });
    expect(await cancel(shop, id, body)).toMatchObject({
      status: 422,
      body: { errors: { reason: ['The reason field is not known.'] } },
    });
    expect(await shop.read(id)).toMatchObject({ status: 'pending' });
    const other = await fixture.merchant().get(`/api/invoices/${id}?expand=payments`);
    expect(other.status).toBe(403);
    const wrong = { status: 422, body: { errors: { expand: ['The expand field is not known.'] } } };
    expect(await shop.get(`/api/invoices/${id}?expand=payments`)).toMatchObject(wrong);
    expect(await shop.post(`/api/invoices/${id}/cancel?expand=payments`, {})).toMatchObject(wrong);
    expect(await shop.post('/api/invoices?expand=payments', {})).toMatchObject(wrong);
  });
});

describe('refunds of an invoice', () => {
  it('are shown as payouts told of them last, and change neither its status nor its version', async () => {
    const { id, to, read } = await anInvoice();
    const { ports } = fixture;
    await pay(to, 3n * DUE);
    await settle();
    const before = await read();
    expect(before).toMatchObject({ status: 'paid', refunds: [], refunded_amount: '0' });
    const described = await describeInvoice(ports, { invoice_id: id });
    const amounts = { amount_due: DUE.toString(), paid_amount: (3n * DUE).toString() };
    expect(described.invoice).toMatchObject({ asset: 'ETH', status: 'paid', usd_rate: '2500', ...amounts });
    expect(await describeInvoice(ports, { invoice_id: newInvoiceId() })).toEqual({ invoice: null });

    const refund = (n: number, version: number, status: 'claimable' | 'pending' | 'completed' | 'expired') =>
      fixture.tell('refund.updated', {
        refund_id: `ref_${n}_${id}`,
        invoice_id: id,
        account_id: 'acc_1',
        version,
        status,
        asset: 'ETH',
        amount: (DUE / 2n).toString(),
        share: DUE.toString(),
        payout_id: status === 'claimable' ? null : '7',
        created_at: `2026-03-02T12:00:0${n}.000Z`,
      });
    await refund(2, 1, 'claimable');
    await refund(1, 3, 'completed');
    await eventually(async () => expect((await read()).refunds).toHaveLength(2));
    await refund(1, 2, 'pending');
    await refund(3, 1, 'expired');
    await eventually(async () => expect((await read()).refunds).toHaveLength(3));
    const shown = (n: number, status: string, payout_id: number | null) => ({
      id: `ref_${n}_${id}`,
      amount: '0.005',
      status,
      payout_id,
      created_at: `2026-03-02T12:00:0${n}.000Z`,
    });
    expect(await read()).toEqual({
      ...before,
      refunded_amount: '0.02',
      refunds: [shown(1, 'completed', 7), shown(2, 'claimable', null), shown(3, 'expired', 7)],
    });
  });
});
