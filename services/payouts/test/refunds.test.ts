import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newInvoiceId, type PayoutId, type RefundId } from '@quittance/shared/ids';
import { recordDeposits } from '../src/handlers.ts';
import { endRefunds } from '../src/operations/claim-refund.ts';
import { claimHashOf } from '../src/operations/create-refund.ts';
import { movePayout } from '../src/store/payouts.ts';
import { aDeposit } from './deposit-event.ts';
import { type ScriptedInvoices, scriptedInvoices } from './scripted-invoices.ts';
import { PUBLIC_URL } from './service-client.ts';
import { type RequestsFixture, recipient, requestsSuite } from './service-fixture.ts';

/** Refunds of invoices and claim links, on two replicas of the service. */
let fixture: RequestsFixture;
let invoices: ScriptedInvoices;
requestsSuite((started) => {
  fixture = started;
});
afterAll(() => invoices?.close());
beforeEach(async () => {
  if (invoices === undefined) {
    invoices = await scriptedInvoices(fixture.nats.url);
    await fixture.start();
  }
  invoices.isSilent = false;
  fixture.board.set('ETH', {});
});

const FINNEY = 10n ** 15n;
const address = recipient;

/** 100 dollars at 2,500 dollars for an ether: 0.04 due; 0.05 paid unless said otherwise. */
function anInvoice(given: { paid?: bigint; status?: string; account?: string } = {}): string {
  const id = newInvoiceId();
  invoices.invoices.set(id, {
    account_id: given.account ?? fixture.shop.account,
    asset: 'ETH',
    status: given.status ?? 'paid',
    amount_due: (40n * FINNEY).toString(),
    paid_amount: (given.paid ?? 50n * FINNEY).toString(),
    usd_rate: '2500',
    currency: 'USD',
  });
  return id;
}

const refund = (id: string, body: object, headers = {}, client = fixture.shop) =>
  client.post(body, headers, `/api/invoices/${id}/refunds`);
const shown = async (id: string) => (await fixture.shop.get(`/api/refunds/${id}`)).body;

/** A claim link of a new invoice. */
async function aLink(body: object = { amount: 'all' }, id = anInvoice()) {
  const answer = await refund(id, body);
  expect(answer.status).toBe(201);
  const { claim_url, id: refundId } = answer.body.data;
  return { refundId: refundId as RefundId, invoice: id, token: String(claim_url).split('/').at(-1) ?? '' };
}

let turn = 0;
/** Opens or sends the page, on one replica after the other. */
async function page(token: string, typed?: string) {
  const { port } = fixture.replicas()[turn++ % 2] as { port: number };
  const form = typed === undefined ? {} : { method: 'POST', body: new URLSearchParams({ address: typed }) };
  const answer = await fetch(`http://127.0.0.1:${port}/claim/${token}`, { redirect: 'manual', ...form });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

const payoutsOf = (refundId: string) =>
  fixture.db.rows<{ id: PayoutId; status: string; amount: string; address: string }>(
    'select id, status, amount, address from payouts where refund_id = $1 order by seq',
    [refundId],
  );
const fail = (id: PayoutId) =>
  fixture.db.transaction((trx) => movePayout(trx, id, ['reserved'], 'failed', { failedReason: 'refused' }));
const expireLink = (id: string) =>
  fixture.db.rows(`update refunds set expires_at = now() - interval '1 second' where id = $1`, [id]);
const told = async (id: string) => {
  const rows = await fixture.db.rows<{
    payload: { version: number; status: string; payout_id: string | null };
  }>(`select payload from outbox where kind = 'refund.updated' and payload->>'refund_id' = $1 order by seq`, [
    id,
  ]);
  return rows.map(({ payload }) => payload.status);
};

describe('POST /api/invoices/{id}/refunds', () => {
  it.each([
    ['all that was paid', { amount: 'all' }, '0.05', '0.05'],
    ['the overpayment', { amount: 'surplus' }, '0.01', '0.01'],
    ['an amount of dollars', { amount: 12.5 }, '0.005', '0.005'],
    ['all at the rate of now', { amount: 'all', rate: 'now' }, '0.05', '0.025'],
    ['an amount of dollars at the rate of now', { amount: '12.50', rate: 'now' }, '0.005', '0.0025'],
  ])('pays %s to an address', async (_, body, share, amount) => {
    fixture.board.set('ETH', { usd_rate: '5000' });
    const invoice = anInvoice();
    const notes = { external_id: 'return 7', metadata: { by: 'ada' } };
    const answer = await refund(invoice, { ...body, ...notes, address });
    expect([answer.status, answer.body.data]).toMatchObject([
      201,
      { status: 'pending', invoice_id: invoice, deposit_id: null, share, amount, claim_url: null, ...notes },
    ]);
    const { id, payout_id } = answer.body.data;
    const payout = (await fixture.shop.get(`/api/payouts/${payout_id}`)).body;
    expect(payout).toMatchObject({ amount, network_fee: '0.0005', to_address: address, ...notes });
    expect(payout).toMatchObject({ refund_id: id, invoice_id: invoice, deposit_id: null });
    expect((await fixture.shop.get(`/api/payouts?refund_id=${id}`)).body.data).toEqual([payout]);
    expect((await fixture.shop.get(`/api/payouts?invoice_id=${invoice}`)).body.data).toEqual([payout]);
    expect(fixture.ledger.asked).toMatchObject([{ payout_id: String(payout_id), deposit_id: null }]);
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
    const { sum } = await fixture.db.one<{ sum: string }>(
      `select sum(share) from refunds where invoice_id = $1 and state in ('claimable', 'pending')`,
      [invoice],
    );
    expect(BigInt(sum)).toBe(50n * FINNEY);
  });

  it('says how much was refunded when nothing or too little is left', async () => {
    const invoice = anInvoice();
    expect((await refund(invoice, { amount: 100 })).status).toBe(201);
    const hint = '0.05 ETH was paid, 0.04 ETH of it was refunded';
    const tooLarge = await refund(invoice, { amount: 25.01 });
    expect([tooLarge.status, tooLarge.body]).toMatchObject([
      400,
      { code: 'refund_too_large', hint: `${hint}: at most 0.01 ETH is left.` },
    ]);
    const surplus = await refund(invoice, { amount: 'surplus' });
    expect([surplus.status, surplus.body]).toMatchObject([
      400,
      { code: 'nothing_to_refund', hint: `${hint}, and 0.04 ETH was due.` },
    ]);
    expect((await refund(invoice, { amount: 'all', address })).status).toBe(201);
    expect((await refund(invoice, { amount: 'all' })).body).toMatchObject({
      code: 'nothing_to_refund',
      hint: '0.05 ETH was paid, 0.05 ETH of it was refunded.',
    });
  });

  it('counts no refund that was refused, has failed, has expired or was cancelled', async () => {
    const invoice = anInvoice();
    fixture.ledger.reply = () => ({ outcome: 'refused' });
    const poor = await refund(invoice, { amount: 'all', address });
    expect([poor.status, poor.body]).toMatchObject([400, { code: 'insufficient_balance' }]);
    fixture.ledger.reply = () => ({ outcome: 'voided' });
    expect((await refund(invoice, { amount: 'all', address })).status).toBe(503);
    fixture.ledger.reply = () => ({ outcome: 'placed' });
    expect((await fixture.shop.get('/api/refunds')).body.data).toEqual([]);

    const failed = (await refund(invoice, { amount: 'all', address })).body.data;
    await fail(String(failed.payout_id) as PayoutId);
    expect(await shown(failed.id)).toMatchObject({ status: 'failed', payout_id: failed.payout_id });
    const late = await aLink({ amount: 'all' }, invoice);
    await expireLink(late.refundId);
    expect(await shown(late.refundId)).toMatchObject({ status: 'expired' });
    const cancelled = await aLink({ amount: 'all' }, invoice);
    expect(await told(late.refundId)).toEqual(['claimable', 'expired']);
    const done = await fixture.shop.post({}, {}, `/api/refunds/${cancelled.refundId}/cancel`);
    expect([done.status, done.body.data]).toMatchObject([200, { status: 'cancelled' }]);
    expect((await refund(invoice, { amount: 'all', address })).status).toBe(201);
    const listed = (await fixture.shop.get(`/api/refunds?invoice_id=${invoice}&status=expired`)).body;
    expect(listed.data).toMatchObject([{ id: late.refundId }]);
  });

  it('answers a repeated key alike, and shows the claim link once', async () => {
    const invoice = anInvoice();
    for (const body of [{ amount: 25 }, { amount: 25, address }]) {
      const key = { 'idempotency-key': `${invoice} ${JSON.stringify(body)}` };
      const both = await Promise.all([refund(invoice, body, key), refund(invoice, body, key)]);
      const first = both.find(
        ({ status, headers }) => status === 201 && headers.get('idempotent-replayed') === null,
      );
      const again = await refund(invoice, body, key);
      expect([again.status, again.body.data]).toEqual([201, { ...first?.body.data, claim_url: null }]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      const other = await refund(invoice, { ...body, amount: 26 }, key);
      expect(other.status).toBe(422);
    }
    expect((await fixture.shop.get(`/api/refunds?invoice_id=${invoice}`)).body.data).toHaveLength(2);
  });

  it('stores the hash of the token alone', async () => {
    const { refundId, token } = await aLink();
    const row = await fixture.db.one<{ hash: Buffer; text: string }>(
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
    expect((await refund(invoice, { amount: 0 }, {}, fixture.newClient())).status).toBe(403);
    const open = await refund(anInvoice({ status: 'partially_paid' }), body);
    expect([open.status, open.body]).toMatchObject([400, { code: 'nothing_to_refund' }]);
    invoices.isSilent = true;
    expect((await refund(invoice, body)).status).toBe(503);
    expect(fixture.ledger.asked).toEqual([]);
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
  ])('refuses %j', async (body, errors) => {
    const { status, body: answered } = await refund(anInvoice(), body);
    expect([status, answered]).toMatchObject([422, { errors }]);
  });
});

describe('a claim link', () => {
  it('shows what is paid back, and takes an address once in two tabs on two replicas', async () => {
    const { refundId, invoice, token } = await aLink({
      amount: 'all',
      external_id: 'rma',
      expires_in_days: 1,
    });
    const open = await page(token);
    expect(open.status).toBe(200);
    for (const text of ['0.05 ETH', 'Ethereum', 'Valid until', '<form method="post">'])
      expect(open.text).toContain(text);
    for (const text of [invoice, 'rma', '<script']) expect(open.text).not.toContain(text);
    expect(open.headers.get('content-security-policy')).toMatch(/default-src 'none'.*form-action 'self'/);

    const others = '0x00000000000000000000000000000000000ABcDe';
    const sent = await Promise.all(
      Array.from({ length: 10 }, (_, i) => page(token, i % 2 === 0 ? address : others.toLowerCase())),
    );
    for (const { status, headers } of sent) {
      expect([status, headers.get('location')]).toEqual([303, `${PUBLIC_URL}/claim/${token}`]);
    }
    const [payout, ...more] = await payoutsOf(refundId);
    expect([payout?.status, BigInt(payout?.amount ?? 0), more]).toEqual(['reserved', 50n * FINNEY, []]);
    const after = await page(token);
    expect(after.text.toLowerCase()).toContain(payout?.address ?? 'none');
    expect(after.text).toContain('It is on its way');
    expect(after.text).not.toContain('<form');
    expect(await shown(refundId)).toMatchObject({ status: 'pending', payout_id: Number(payout?.id) });
    await fixture.db.transaction(async (trx) => {
      await movePayout(trx, payout?.id as PayoutId, ['reserved'], 'signed');
      await movePayout(trx, payout?.id as PayoutId, ['signed'], 'mined', { txHash: '0xfeed' });
    });
    expect((await page(token)).text).toMatch(/is paid[\s\S]*0xfeed/);
    expect((await page(token, address)).status).toBe(303);
    expect(await payoutsOf(refundId)).toHaveLength(1);
    expect(await told(refundId)).toEqual(['claimable', 'pending', 'completed']);
  });

  it('says which rule an address breaks, and shows what was typed as text', async () => {
    const { refundId, token } = await aLink();
    const typed = '"><script>alert(1)</script>';
    const { status, text } = await page(token, typed);
    expect(status).toBe(422);
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
    expect(text).not.toContain('<script');
    expect((await page(token, 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq')).text).toContain(
      'This is an address of Bitcoin',
    );
    expect((await page(token, '')).text).toContain('The address field is required.');
    expect(await payoutsOf(refundId)).toEqual([]);
  });

  it('stays claimable when the balance is too low, or when the hold is void, and pays later once', async () => {
    const { refundId, token } = await aLink();
    fixture.ledger.reply = () => ({ outcome: 'refused' });
    const poor = await page(token, address);
    expect(poor.status).toBe(409);
    expect(poor.text).toContain('the shop has to act');
    fixture.ledger.reply = () => ({ outcome: 'voided' });
    const silent = await page(token, address);
    expect(silent.status).toBe(503);
    expect(silent.text).toMatch(/Nothing was paid: please try again[\s\S]*value="0x5290/);
    fixture.ledger.reply = () => ({ outcome: 'placed' });
    expect((await page(token, address)).status).toBe(303);
    expect((await payoutsOf(refundId)).map(({ status }) => status)).toEqual([
      'refused',
      'voided',
      'reserved',
    ]);
  });

  it('is claimable again when its payout has failed, and fails with its time', async () => {
    const { refundId, token } = await aLink();
    await page(token, address);
    const [first] = await payoutsOf(refundId);
    await fail(first?.id as PayoutId);
    expect((await page(token)).text).toContain('The payment to the address that you gave has failed');
    expect((await page(token, address)).status).toBe(303);
    const [, second] = await payoutsOf(refundId);
    await expireLink(refundId);
    await fail(second?.id as PayoutId);
    expect(await shown(refundId)).toMatchObject({ status: 'expired' });
    expect(await told(refundId)).toEqual(['claimable', 'pending', 'claimable', 'pending', 'expired']);
  });

  it('that expired, was cancelled or is guessed pays nothing', async () => {
    const [late, cancelled] = [await aLink(), await aLink()];
    await expireLink(late.refundId);
    await fixture.shop.post({}, {}, `/api/refunds/${cancelled.refundId}/cancel`);
    expect((await page(late.token)).text).toContain('The time to claim it is over');
    expect((await page(cancelled.token)).text).toContain('The shop has cancelled this link');
    for (const { refundId, token } of [late, cancelled]) {
      expect((await page(token, address)).status).toBe(303);
      expect(await payoutsOf(refundId)).toEqual([]);
    }
    for (const token of ['x', 'A'.repeat(27), '%00']) {
      for (const typed of [undefined, address]) expect((await page(token, typed)).status).toBe(404);
    }
    expect(await endRefunds(fixture.service.ports)).toBe(1);
    expect(await told(late.refundId)).toEqual(['claimable', 'expired']);
    const refused = await fixture.shop.post({}, {}, `/api/refunds/${late.refundId}/cancel`);
    expect([refused.status, refused.body.code]).toEqual([400, 'not_cancelable']);
  });

  it('whose payout was ended by an older release follows it', async () => {
    const { refundId, token } = await aLink();
    await page(token, address);
    await fixture.db.rows(`update payouts set status = 'failed', failed_reason = 'x' where refund_id = $1`, [
      refundId,
    ]);
    expect(await endRefunds(fixture.service.ports)).toBe(1);
    expect(await shown(refundId)).toMatchObject({ status: 'claimable' });
  });
});

describe('POST /api/unresolved/{deposit}/return with a claim link', () => {
  let made = 0;
  async function aDepositToReturn() {
    made += 1;
    const place = {
      address: `0x${made.toString(16).padStart(40, 'e')}`,
      index: made,
      outpoint: `0xc${made}:0`,
    };
    const given = { account_id: fixture.shop.account, asset: 'ETH', disposition: 'unresolved' } as const;
    const payload = aDeposit({ ...given, amount: 10n * FINNEY, ...place });
    await fixture.db.transaction((trx) => recordDeposits(trx, [{ payload }]));
    return payload.deposit_id;
  }
  const giveBack = (id: string, body: object, headers = {}) =>
    fixture.shop.post(body, headers, `/api/unresolved/${id}/return`);

  it('pays the deposit back less the network fee, once', async () => {
    const id = await aDepositToReturn();
    const { status, body } = await giveBack(id, { claim: true, external_id: 'late' });
    expect([status, body.data]).toMatchObject([
      201,
      { status: 'claimable', deposit_id: id, invoice_id: null, amount: '0.01', requested: 'deposit' },
    ]);
    expect((await giveBack(id, { claim: true })).status).toBe(409);
    const token = body.data.claim_url.split('/').at(-1);
    expect((await page(token)).text).toMatch(/Network fee, which is taken from it[\s\S]*0\.0005 ETH/);
    await Promise.all([page(token, address), page(token, address)]);
    expect(fixture.ledger.asked).toMatchObject([
      { deposit_id: id, amount: ((95n * FINNEY) / 10n).toString() },
    ]);
    expect(await payoutsOf(body.data.id)).toHaveLength(1);
    expect((await giveBack(id, { address })).status).toBe(409);
  });

  it('pays nothing when the shop has returned or accepted the deposit since', async () => {
    const id = await aDepositToReturn();
    const { body } = await giveBack(id, { claim: true });
    const token = body.data.claim_url.split('/').at(-1);
    fixture.ledger.reply = () => ({ outcome: 'refused' });
    expect([(await page(token, address)).status, await shown(body.data.id)]).toMatchObject([
      409,
      { status: 'claimable' },
    ]);
    fixture.ledger.reply = () => ({ outcome: 'placed' });
    expect((await giveBack(id, { address })).status).toBe(201);
    const { status, text } = await page(token, address);
    expect([status, text]).toEqual([409, expect.stringContaining('The shop has decided otherwise')]);
  });

  it.each([
    [{ claim: true, address }, { address: ['The address field is not known.'] }],
    [{ claim: true, expires_in_days: 0 }, { expires_in_days: ['The expires in days must be at least 1.'] }],
    [{ claim: false }, { address: ['The address field is required.'] }],
  ])('refuses %j', async (body, errors) => {
    const answer = await giveBack(await aDepositToReturn(), body);
    expect([answer.status, answer.body]).toMatchObject([422, { errors }]);
  });
});
