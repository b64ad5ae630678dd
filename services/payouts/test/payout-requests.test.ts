import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PayoutId } from '@quittance/shared/ids';
import { voidStaleRequests } from '../src/operations/request-payout.ts';
import { order, recipient, requestsSuite } from './service-fixture.ts';

/** Requests for payouts, and what the ledger answers to them. */
const fixture = requestsSuite();

describe('POST /api/payouts', () => {
  it('answers 201 with the id alone when the ledger has placed the hold', async () => {
    const { status, body } = await fixture.shop.post(order);
    expect(status).toBe(201);
    expect(body).toEqual({ message: expect.any(String), data: { id: body.data.id } });
    expect(typeof body.data.id).toBe('number');
    expect(body.data.id).toBeLessThan(2 ** 53);
    expect(fixture.ledger.asked).toEqual([
      {
        request_id: expect.stringMatching(/^req_/),
        payout_id: String(body.data.id),
        account_id: fixture.shop.account,
        asset: 'ETH',
        amount: '1500000000000000000',
        network_fee: '500000000000000',
        deposit_id: null,
        invoice_id: null,
        destination: recipient.toLowerCase(),
        proof: expect.objectContaining({ method: 'POST', path: '/api/payouts', item: 0 }),
      },
    ]);
    expect(await fixture.rowsOf(fixture.shop)).toEqual([{ id: String(body.data.id), status: 'reserved' }]);
    const told = await fixture.db.one<{ payload: unknown }>(
      `select payload from outbox where payload->>'resource_id' = $1`,
      [body.data.id],
    );
    const { body: shown } = await fixture.shop.get(`/api/payouts/${body.data.id}`);
    expect(told.payload).toEqual({
      account_id: fixture.shop.account,
      resource_id: String(body.data.id),
      version: 1,
      data: shown,
    });
  });

  it('stores what the merchant notes, and shows it with every digit, and the fee and the worth of the time of the request', async () => {
    const notes = { external_id: ' wage-7 ', metadata: { run: '2026-11', note: '<b>' } };
    // No double holds the amount.
    const amount = '1.500000000000000001';
    const request = JSON.stringify({ ...order, ...notes }).replace('1.5', amount);
    const { body } = await fixture.shop.post(request);
    fixture.board.set('ETH', { usd_rate: '1' });
    const { body: shown } = await fixture.shop.get(`/api/payouts/${body.data.id}`);
    expect(shown).toMatchObject({
      external_id: 'wage-7',
      metadata: notes.metadata,
      ...{ amount, network_fee: '0.0005', total: '1.500500000000000001' },
      ...{ usd_rate: '2500', usd_value: '3750', deposit_id: null },
    });
    fixture.board.set('ETH', {});
  });

  it('pays all that the ledger has held when the amount is max', async () => {
    fixture.ledger.reply = () => ({ outcome: 'placed', amount: '1234567890000000000' });
    const { body } = await fixture.shop.post({ ...order, amount: 'max' });
    expect(fixture.ledger.asked).toMatchObject([{ amount: '10000000000000', takes_all: true }]);
    const { body: shown } = await fixture.shop.get(`/api/payouts/${body.data.id}`);
    expect(shown).toMatchObject({ amount: '1.23456789', total: '1.23506789' });
    const told = await fixture.db.one<{ amount: string }>(
      `select payload->'data'->>'amount' as amount from outbox where payload->>'resource_id' = $1`,
      [body.data.id],
    );
    expect(told.amount).toBe('1.23456789');
  });

  it('answers 503 when a ledger of an older release holds the least amount in place of all', async () => {
    expect((await fixture.shop.post({ ...order, amount: 'max' })).status).toBe(503);
    const [row] = await fixture.rowsOf(fixture.shop);
    expect(row?.status).toBe('voided');
    expect(await fixture.published(row?.id as PayoutId)).toEqual(['hold.void']);
  });

  it.each([
    ['400000000000000000', '0.4 ETH is available and '],
    [undefined, ''],
  ])(
    'answers 400 when %s is available, says what is needed, and there is no payout',
    async (available, said) => {
      fixture.ledger.reply = () => ({ outcome: 'refused', ...(available && { available }) });
      const { status, body } = await fixture.shop.post(order);
      const refused = { message: 'Insufficient balance', code: 'insufficient_balance' };
      expect([status, body]).toMatchObject([400, refused]);
      expect(body.hint).toMatch(new RegExp(`^${said}[\\d.]+ ETH is needed: 1.5 and [\\d.]+ network fee\\.$`));
      const [row, ...others] = await fixture.rowsOf(fixture.shop);
      expect([row?.status, others]).toEqual(['refused', []]);
      expect((await fixture.shop.get(`/api/payouts/${row?.id}`)).status).toBe(404);
      expect((await fixture.shop.get('/api/payouts')).body).toMatchObject({ data: [], meta: { total: 0 } });
    },
  );

  it('answers 503 without a fresh quote', async () => {
    fixture.board.isFresh = false;
    const { status, headers, body } = await fixture.shop.post(order);
    expect([status, body]).toEqual([503, expect.objectContaining({ message: 'Service Unavailable' })]);
    expect(headers['retry-after']).toBe('2');
    expect(await fixture.rowsOf(fixture.shop)).toEqual([]);
  });

  it('answers 503 when the ledger does not answer, and releases a late hold', async () => {
    const ledgerIsSlow = Promise.withResolvers<void>();
    fixture.ledger.reply = () => ({ outcome: 'placed', before: () => ledgerIsSlow.promise });
    const { status, headers } = await fixture.shop.post(order);
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('2');
    const [{ id, status: inside } = { id: '' as PayoutId, status: '' }] = await fixture.rowsOf(fixture.shop);
    expect(inside).toBe('voided');
    expect(await fixture.published(id)).toEqual(['hold.void']);
    ledgerIsSlow.resolve();
    // The late answer has arrived when a later one has.
    fixture.ledger.reply = () => ({ outcome: 'placed' });
    expect((await fixture.shop.post(order)).status).toBe(201);
    expect(await fixture.rowsOf(fixture.shop)).toMatchObject([
      { id, status: 'voided' },
      { status: 'reserved' },
    ]);
    expect((await fixture.shop.get(`/api/payouts/${id}`)).status).toBe(404);
  });

  it('handles an answer that arrives twice once', async () => {
    fixture.ledger.reply = () => ({ outcome: 'placed', times: 2 });
    expect((await fixture.shop.post(order)).status).toBe(201);
    expect(await fixture.rowsOf(fixture.shop)).toMatchObject([{ status: 'reserved' }]);
  });

  it('voids a request that is not decided, as one whose process died, releases its hold, and answers 503 when the ledger places it later', async () => {
    const voided: number[] = [];
    const voidStale = async () => voided.push(await voidStaleRequests(fixture.service.ports));
    const before = async () => {
      await voidStale();
      const [row] = await fixture.rowsOf(fixture.shop);
      await fixture.db.rows(`update payouts set created_at = now() - interval '11 seconds' where id = $1`, [
        row?.id,
      ]);
      await voidStale();
    };
    fixture.ledger.reply = () => ({ outcome: 'placed', before });
    expect((await fixture.shop.post(order)).status).toBe(503);
    expect(voided).toEqual([0, 1]);
    const rows = await fixture.rowsOf(fixture.shop);
    expect(rows).toEqual([{ id: expect.anything(), status: 'voided' }]);
    expect(await fixture.published(rows[0]?.id as PayoutId)).toEqual(['hold.void']);
  });

  describe('drawing payout ids', () => {
    let drawn: (size: number) => Uint8Array;
    beforeEach(() => {
      drawn = fixture.service.ports.random;
    });
    afterEach(() => {
      fixture.service.ports.random = drawn;
    });
    const headers = (key: string | undefined) => (key === undefined ? {} : { 'idempotency-key': key });
    const drawing = (...all: Uint8Array[]) => {
      const left = [...all];
      fixture.service.ports.random = (size) => left.shift() ?? drawn(size);
    };

    it.each([undefined, 'taken-id'])(
      'draws another payout id when the drawn one is taken (Idempotency-Key: %s)',
      async (key) => {
        const bytes = drawn(6);
        drawing(bytes, bytes, bytes);
        const first = await fixture.shop.post(order, headers(key));
        const second = await fixture.shop.post(order, headers(key && `${key}-2`));
        expect([first.status, second.status]).toEqual([201, 201]);
        expect(second.body.data.id).not.toBe(first.body.data.id);
        expect(await fixture.rowsOf(fixture.shop)).toEqual([
          { id: String(first.body.data.id), status: 'reserved' },
          { id: String(second.body.data.id), status: 'reserved' },
        ]);
      },
    );

    it('asks the ledger for nothing when three drawn payout ids in a row are taken', async () => {
      const bytes = drawn(6);
      drawing(bytes, bytes, bytes, bytes);
      expect((await fixture.shop.post(order)).status).toBe(201);
      expect((await fixture.shop.post(order)).status).toBe(500);
      expect(fixture.ledger.asked).toHaveLength(1);
      expect((await fixture.shop.post(order)).status).toBe(201);
    });
  });

  it('answers 401 without an identity that the gateway has signed', async () => {
    const answer = await fetch(`http://127.0.0.1:${fixture.service.port}/api/payouts`, { method: 'POST' });
    expect(answer.status).toBe(401);
  });
});
