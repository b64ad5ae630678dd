import { describe, expect, test } from '@jest/globals';
import { newEventId } from '@quittance/shared/ids';
import { deliveryIdOf } from '../src/domain/delivery.ts';
import { anAccount, anEvent, forbidden, invalid, openFixture } from './fixture.ts';

const fixture = await openFixture();
const { db, clock, answerWith, call, receive, claim, deliverAll, deliveriesOf } = fixture;
const { receiveMany, aShop } = fixture;
const noDelivery = {
  status: 404,
  body: expect.objectContaining({ message: 'No query results for model [Delivery].' }),
};

describe('the delivery log', () => {
  test('shows each delivery with its attempts, the latest event first', async () => {
    const { account, id, path: endpoint } = await aShop('/log');
    const [first, second] = [anEvent({ account }), anEvent({ account, kind: 'invoice.paid' })];
    await receive(first);
    const firstAt = clock.now().toISOString();
    answerWith(503, 'out of order');
    await deliverAll();
    clock.advance(6_000);
    const secondAt = clock.now().toISOString();
    answerWith(204);
    await deliverAll();
    await receive(second);

    const path = `${endpoint}/deliveries`;
    const answered = { ms: expect.any(Number), failure: null };
    const waiting = {
      id: deliveryIdOf(id, second.id),
      webhook_id: id,
      event: { id: second.id, event: 'invoice.paid', sequence: 2, created_at: second.created_at },
      status: 'waiting',
      next_attempt_at: secondAt,
      attempts: [],
    };
    const delivered = {
      id: deliveryIdOf(id, first.id),
      webhook_id: id,
      event: { id: first.id, event: 'invoice.created', sequence: 1, created_at: first.created_at },
      status: 'delivered',
      next_attempt_at: null,
      attempts: [
        { ...{ number: 1, started_at: firstAt, status: 503 }, ...answered, answer: 'out of order' },
        { ...{ number: 2, started_at: secondAt, status: 204 }, ...answered, answer: '' },
      ],
    };
    expect(await call('GET', path, account)).toEqual({
      status: 200,
      body: { data: [waiting, delivered], meta: { has_more: false, next_before: null } },
    });
    for (const one of [waiting, delivered]) {
      expect(await call('GET', `/api/deliveries/${one.id}`, account)).toEqual({ status: 200, body: one });
    }
    await claim();
    expect((await call('GET', `/api/deliveries/${waiting.id}`, account)).body).toEqual({
      ...waiting,
      status: 'sending',
      next_attempt_at: null,
    });
  });

  test('an attempt without an answer says why', async () => {
    const { account, path } = await aShop('http://127.0.0.1:9/closed');
    await receive(anEvent({ account }));
    await deliverAll();
    const { body } = await call('GET', `${path}/deliveries`, account);
    expect(body.data[0].attempts).toMatchObject([{ status: null, failure: 'not_connected', answer: null }]);
  });

  test('is filtered by status and event type, and read page by page without a gap', async () => {
    const { account, key, path } = await aShop('/pages');
    await receiveMany(account, 12);
    await receiveMany(account, 5, 'invoice.paid');
    await db.rows(
      `update deliveries set state = (array['waiting', 'delivered', 'exhausted', 'cancelled'])[1 + sequence % 4]
       where endpoint_key = $1`,
      [key],
    );
    const stored = await deliveriesOf(key);
    const statuses = ['waiting', 'sending', 'delivered', 'exhausted', 'cancelled'];
    for (const status of [undefined, ...statuses]) {
      for (const kind of [undefined, 'invoice.created', 'invoice.paid', 'payout.failed']) {
        const filters = new URLSearchParams({
          ...(status === undefined ? {} : { status }),
          ...(kind === undefined ? {} : { event: kind }),
          limit: '2',
        });
        const seen: string[] = [];
        for (let before: number | null | undefined; before !== null; ) {
          if (before !== undefined) filters.set('before', String(before));
          const { body } = await call('GET', `${path}/deliveries?${filters}`, account);
          expect(body.meta.has_more).toBe(body.meta.next_before !== null);
          expect(body.data.length).toBeLessThanOrEqual(2);
          seen.push(...body.data.map((one: { event: { sequence: number } }) => String(one.event.sequence)));
          before = body.meta.next_before;
        }
        const expected = stored
          .filter(({ state }) => status === undefined || state === status)
          .map(({ sequence }) => sequence)
          .filter((_, i, all) => {
            const sequence = BigInt(all[i] ?? 0);
            if (kind === undefined) return true;
            return kind === 'invoice.created' ? sequence <= 12n : kind === 'invoice.paid' && sequence > 12n;
          });
        expect([status, kind, seen]).toEqual([status, kind, expected.reverse()]);
      }
    }
  });

  test('shows the latest ten attempts of a delivery', async () => {
    const { account, key, path } = await aShop('/many');
    await receive(anEvent({ account }));
    await db.rows(`update deliveries set state = 'exhausted', attempts = 23 where endpoint_key = $1`, [key]);
    await db.rows(
      `insert into attempts (endpoint_key, sequence, number, started_at, ms, status)
       select $1, 1, n, now(), 1, 500 from generate_series(1, 23) as n`,
      [key],
    );
    const { body } = await call('GET', `${path}/deliveries`, account);
    expect(body.data[0].attempts.map((one: { number: number }) => one.number)).toEqual([
      14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
    ]);
  });

  test.each([
    ['status=lost', { status: ['The selected status is invalid.'] }],
    ['event=invoice.sold', { event: ['The selected event is invalid.'] }],
    ['before=0', { before: ['The before must be at least 1.'] }],
    ['before=x', { before: ['The before must be an integer.'] }],
    ['limit=0', { limit: ['The limit must be at least 1.'] }],
    ['limit=101', { limit: ['The limit must not be greater than 100.'] }],
    ['status[]=waiting', { status: ['The status must be a string.'] }],
  ])('?%s is refused', async (query, errors) => {
    const { account, path } = await aShop('/');
    expect(await call('GET', `${path}/deliveries?${query}`, account)).toEqual(invalid(errors));
  });

  test('answers 403 for another account’s delivery and 404 for an unknown one', async () => {
    const { account, id } = await aShop('/');
    const [told, other] = [anEvent({ account }), anEvent()];
    await receive(told, other);
    const of = (event: { id: typeof told.id }) => `/api/deliveries/${deliveryIdOf(id, event.id)}`;
    for (const [verb, more] of [
      ['GET', ''],
      ['POST', '/redeliver'],
    ] as const) {
      expect(await call(verb, `${of(told)}${more}`, anAccount())).toEqual(forbidden);
      // Another account's event is not a delivery of this endpoint either.
      for (const unknown of [of(other), of({ id: newEventId() }), '/api/deliveries/dlv_1']) {
        expect(await call(verb, `${unknown}${more}`, account)).toEqual(noDelivery);
      }
    }
  });
});
