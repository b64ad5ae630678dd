import { describe, expect, it } from '@jest/globals';
import { pruneIdempotencyKeys } from '../src/store/invoices.ts';
import { MINUTE, openFixture } from './fixture.ts';

const { fixture } = await openFixture();

describe('Idempotency-Key', () => {
  const key = (text: string) => ({ 'idempotency-key': text });

  it('the same key and body return the first answer and create one invoice', async () => {
    const merchant = fixture.merchant();
    const first = await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 }, key('a'));
    fixture.pass(MINUTE);
    fixture.board.stale = true;
    const second = await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 }, key('a'));
    fixture.board.stale = false;
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.headers['location']).toBe(first.headers['location']);
    expect((await merchant.get('/api/invoices')).body.meta.total).toBe(1);
  });

  it('the same key with another body is refused', async () => {
    const merchant = fixture.merchant();
    await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 }, key('a'));
    const answer = await merchant.post('/api/invoices', { asset: 'ETH', amount: 11 }, key('a'));
    expect(answer).toMatchObject({
      status: 422,
      body: { errors: { 'Idempotency-Key': ['The Idempotency-Key was used before with another body.'] } },
    });
    expect((await merchant.get('/api/invoices')).body.meta.total).toBe(1);
  });

  it('a refused request leaves its key free', async () => {
    const merchant = fixture.merchant();
    expect((await merchant.post('/api/invoices', { asset: 'ETH', amount: 1 }, key('a'))).status).toBe(422);
    expect((await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 }, key('a'))).status).toBe(201);
  });

  it('the same key of another account is independent', async () => {
    const body = { asset: 'ETH', amount: 10 };
    const one = await fixture.merchant().post('/api/invoices', body, key('a'));
    const other = await fixture.merchant().post('/api/invoices', body, key('a'));
    expect(one.body.data.id).not.toBe(other.body.data.id);
  });

  it('fifty concurrent requests create one invoice with one address', async () => {
    const merchant = fixture.merchant();
    const body = { asset: 'ETH', amount: 10 };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => merchant.post('/api/invoices', body, key('same'))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(201));
    expect(new Set(answers.map((answer) => answer.body.data.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect((await merchant.get('/api/invoices')).body.meta.total).toBe(1);
    const told = await fixture.rows(`select 1 from outbox where payload->>'account_id' = $1`, [
      merchant.account,
    ]);
    expect(told).toHaveLength(1);
  });

  it('is at most 255 characters long', async () => {
    const merchant = fixture.merchant();
    const body = { asset: 'ETH', amount: 10 };
    expect((await merchant.post('/api/invoices', body, key('k'.repeat(255)))).status).toBe(201);
    expect(await merchant.post('/api/invoices', body, key('k'.repeat(256)))).toMatchObject({
      status: 422,
      body: { errors: { 'Idempotency-Key': [expect.stringContaining('255')] } },
    });
  });

  it('is deleted after 30 days', async () => {
    const prune = () => pruneIdempotencyKeys(fixture.ports.db, fixture.clock.at, 500);
    const merchant = fixture.merchant();
    await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 }, key('old'));
    const own = () =>
      fixture.rows('select 1 from idempotency_keys where account_id = $1', [merchant.account]);
    const created = `update idempotency_keys set created_at = $2::timestamptz - $3::interval where account_id = $1`;
    await fixture.rows(created, [merchant.account, fixture.clock.at, '29 days']);
    await prune();
    expect(await own()).toHaveLength(1);
    await fixture.rows(created, [merchant.account, fixture.clock.at, '30 days 1 second']);
    await prune();
    expect(await own()).toHaveLength(0);
  });
});

describe('many requests at once', () => {
  it('share statements, and each has its own answer', async () => {
    const merchant = fixture.merchant();
    const orders = Array.from({ length: 100 }, (_, i) => ({
      amount: 5 + i,
      external_id: i % 3 === 0 ? null : `o${i}`,
    }));
    const made = await Promise.all(orders.map((order) => merchant.invoice(order)));
    for (const [i, invoice] of made.entries()) {
      expect(invoice).toMatchObject({
        amount_fiat: `${5 + i}.00`,
        external_id: orders[i]?.external_id ?? null,
      });
    }
    const stranger = await fixture.merchant().invoice();
    const unknown = `inv_${'0'.repeat(36)}`;
    const ids = [...made.map(({ id }) => id as string), stranger.id as string, unknown, made[0].id as string];
    const read = await Promise.all(ids.map((id) => merchant.get(`/api/invoices/${id}`)));
    expect(read.map(({ status }) => status)).toEqual([...made.map(() => 200), 403, 404, 200]);
    expect(read.slice(0, 100).map(({ body }) => body)).toEqual(made);
    for (const { id, address } of made) {
      expect(await fixture.told(id)).toHaveLength(1);
      const rows = await fixture.rows('select invoice_id, given_height from addresses where address = $1', [
        address.address.toLowerCase(),
      ]);
      expect(rows).toEqual([{ invoice_id: id, given_height: fixture.chain.height() }]);
    }
  });

  it('a request that the database refuses fails alone', async () => {
    const merchant = fixture.merchant();
    const { take } = fixture.watchedChain.addresses;
    // One of them gets the address of another invoice.
    const taken = await merchant.invoice();
    const [{ derivation_index }] = await fixture.rows(
      'select derivation_index from addresses where invoice_id = $1',
      [taken.id],
    );
    let asked = 0;
    fixture.watchedChain.addresses.take = async () => {
      asked += 1;
      return asked === 7
        ? { address: taken.address.address.toLowerCase(), derivationIndex: derivation_index }
        : await take();
    };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => merchant.post('/api/invoices', { asset: 'ETH', amount: 10 })),
    );
    fixture.watchedChain.addresses.take = take;
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array(19).fill(201), 500]);
    expect((await merchant.get('/api/invoices')).body.meta.total).toBe(20);
  });
});
