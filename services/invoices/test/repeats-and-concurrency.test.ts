import { describe, expect, it } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { pruneIdempotencyKeys } from '../src/store/invoices.ts';
import { DUE, MINUTE, openFixture } from './fixture.ts';

const { fixture, mine } = await openFixture();

describe('Idempotency-Key', () => {
  const key = (text: string) => ({ 'idempotency-key': text });

  it('the same key and body return the first answer and create one invoice', async () => {
    const merchant = fixture.merchant();
    const first = await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 }, key('a'));
    fixture.pass(MINUTE);
    fixture.board.stale = true;
    const second = await merchant.post('/api/invoices', { asset: 'ETH', amount: 10 }, key('a'));
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
  it('share statements, and each has its own answer, address and index', async () => {
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
    const indexes = new Set<number>();
    for (const { id, address } of made) {
      expect(await fixture.told(id)).toHaveLength(1);
      const rows = await fixture.rows(
        'select invoice_id, given_height, derivation_index from addresses where address = $1',
        [address.address.toLowerCase()],
      );
      expect(rows).toMatchObject([{ invoice_id: id, given_height: fixture.chain.height() }]);
      indexes.add(rows[0].derivation_index);
    }
    expect(indexes.size).toBe(100);
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

/** An invoice that is paid in equal final parts, and their events for the ledger. */
async function settled(parts: number) {
  const merchant = fixture.merchant();
  const invoice = await merchant.invoice();
  const to = invoice.address.address.toLowerCase();
  for (let n = 0; n < parts; n++) fixture.chain.mine({ pay: [{ to, amount: DUE / BigInt(parts) }] });
  await mine({}, {}, {});
  const told = await fixture.told(invoice.id);
  const credits = told
    .filter(({ kind }) => kind === 'deposit.settled')
    .map(({ payload }) => ({ deposit_id: payload.deposit_id as string, invoice_id: invoice.id as string }));
  expect(credits).toHaveLength(parts);
  return { id: invoice.id as string, read: () => merchant.read(invoice.id), credits };
}

const processed = (eventId: string) =>
  eventually(async () => {
    if ((await fixture.rows('select 1 from inbox where event_id = $1', [eventId])).length === 0) {
      throw new Error(`${eventId} was not processed`);
    }
  });

const paidEvents = async (id: string) =>
  (await fixture.told(id)).filter(({ kind }) => kind === 'invoice.paid').length;

it('an invoice is paid with its last credit, in any order', async () => {
  const { id, read, credits } = await settled(4);
  for (const [i, credit] of credits.toReversed().entries()) {
    expect((await read()).status).toBe('confirmed');
    await processed(await fixture.tell('credit.recorded', credit));
    expect((await read()).status).toBe(i === 3 ? 'paid' : 'confirmed');
  }
  expect(await paidEvents(id)).toBe(1);
});

it('a repeated credit counts once, as one event or as several', async () => {
  const { id, read, credits } = await settled(2);
  const [first, second] = credits;
  if (first === undefined || second === undefined) throw new Error('there are two');
  const event = await fixture.tell('credit.recorded', first);
  for (let n = 0; n < 4; n++) await fixture.tell('credit.recorded', first, { id: event });
  for (let n = 0; n < 3; n++) await processed(await fixture.tell('credit.recorded', first));
  expect((await read()).status).toBe('confirmed');
  await processed(await fixture.tell('credit.recorded', second));
  expect((await read()).status).toBe('paid');
  const before = await fixture.told(id);
  await processed(await fixture.tell('credit.recorded', second));
  await processed(await fixture.tell('credit.recorded', first));
  expect(await fixture.told(id)).toEqual(before);
  const [{ credited_at }] = await fixture.rows('select credited_at from deposits where id = $1', [
    first.deposit_id,
  ]);
  expect(credited_at).not.toBeNull();
});

it('many concurrent credits pay each of many invoices once', async () => {
  const invoices = [];
  for (let n = 0; n < 10; n++) invoices.push(await settled(2));
  const credits = invoices.flatMap((invoice) => invoice.credits);
  // Each credit twice and out of order.
  const order = [...credits, ...credits].sort((a, b) =>
    a.deposit_id.slice(-4) < b.deposit_id.slice(-4) ? -1 : 1,
  );
  const events = await Promise.all(order.map((credit) => fixture.tell('credit.recorded', credit)));
  for (const event of events) await processed(event);
  for (const { id, read } of invoices) {
    expect((await read()).status).toBe('paid');
    expect(await paidEvents(id)).toBe(1);
  }
});

it('a credit of an unsettled deposit becomes a dead letter and delays no other credit', async () => {
  const { read, credits } = await settled(1);
  const [credit] = credits;
  if (credit === undefined) throw new Error('there is one');
  const stranger = { deposit_id: 'dep_unknown', invoice_id: credit.invoice_id };
  await fixture.tell('credit.recorded', stranger);
  await processed(await fixture.tell('credit.recorded', credit));
  expect((await read()).status).toBe('paid');
  expect(await fixture.rows(`select 1 from deposits where id = 'dep_unknown'`)).toEqual([]);
});

it('two replicas record each credit once', async () => {
  await fixture.replica();
  const invoices = [];
  for (let n = 0; n < 5; n++) invoices.push(await settled(2));
  await fixture.credit();
  for (const { id, read } of invoices) {
    expect((await read()).status).toBe('paid');
    expect(await paidEvents(id)).toBe(1);
  }
});
