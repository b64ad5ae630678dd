import { describe, expect, it } from '@jest/globals';
import { lowestId } from '../src/store/invoice-reads.ts';
import { DUE, MINUTE, openFixture } from './fixture.ts';

const { fixture, pay, settle } = await openFixture();
const DAY = 24 * 60 * MINUTE;
type Shop = ReturnType<typeof fixture.merchant>;

/** The fixture begins at noon of this day. */
const dateOf = (at: Date): string => at.toISOString().slice(0, 10);
const volume = (shop: Shop, query = '') => shop.get(`/api/volume${query}`);

describe('GET /api/volume', () => {
  it('counts what was created on each day in UTC, and what of it is paid by now, by currency', async () => {
    const shop = fixture.merchant();
    await shop.patch('/api/invoice-settings', { expires_in: null });
    const { address } = await shop.invoice();
    const first = dateOf(fixture.clock.at);
    await shop.invoice({ amount: 100, currency: 'EUR' });
    await shop.post('/api/invoices', { assets: 'all', amount: 7.5 });
    const stranger = fixture.merchant();
    await stranger.invoice();
    fixture.clock.at = new Date(new Date(first).getTime() + DAY - 1);
    await shop.invoice({ amount: 5 });
    fixture.pass(1);
    await shop.invoice({ amount: '12.34' });
    const second = dateOf(fixture.clock.at);
    expect(second).not.toBe(first);
    // Paid on the second day, and counted on the first one.
    await pay(address.address.toLowerCase(), DUE);
    await settle();
    const { status, body } = await volume(shop, `?from=${first}&to=${second}`);
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      data: [
        {
          date: first,
          created: 4,
          paid: 1,
          currencies: [
            { currency: 'USD', created: 3, paid: 1, paid_amount: '25.00' },
            { currency: 'EUR', created: 1, paid: 0, paid_amount: '0.00' },
          ],
        },
        {
          date: second,
          created: 1,
          paid: 0,
          currencies: [{ currency: 'USD', created: 1, paid: 0, paid_amount: '0.00' }],
        },
      ],
    });
    expect((await volume(shop, `?from=${first}&to=${second}&currency=EUR`)).body.data).toMatchObject([
      { created: 1, currencies: [{ currency: 'EUR' }] },
      { created: 0, paid: 0, currencies: [] },
    ]);
    expect((await volume(shop, `?from=${second}T23:59Z&to=${second}`)).body.data).toMatchObject([
      { date: second, created: 1 },
    ]);
  });

  it('adds up exactly what no floating-point number holds', async () => {
    const shop = fixture.merchant();
    const { id } = await shop.invoice();
    await fixture.rows(
      `insert into invoices select copy.* from invoices i, generate_series(1, 3) as n,
         jsonb_populate_record(i, jsonb_build_object('id', i.id || n, 'status', 'paid', 'paid_at', now(),
           'amount_fiat', '90071992547409930000000000000001')) as copy
       where i.id = $1`,
      [id],
    );
    const [day] = (await volume(shop, `?from=${dateOf(fixture.clock.at)}`)).body.data;
    expect(day.currencies[0].paid_amount).toBe('2702159776422297900000000000000.03');
  });

  it('has thirty days up to today without a range, and all days of a leap year', async () => {
    const shop = fixture.merchant();
    const { data } = (await volume(shop)).body;
    expect(data).toHaveLength(30);
    expect(data.at(-1)).toEqual({ date: dateOf(fixture.clock.at), created: 0, paid: 0, currencies: [] });
    expect((await volume(shop, '?from=2028-01-01&to=2028-12-31')).body.data).toHaveLength(366);
    expect((await volume(shop, '?to=2026-01-30')).body.data.at(0).date).toBe('2026-01-01');
  });

  it.each([
    ['?from=2028-01-01&to=2029-01-01', 'to', '366'],
    ['?from=0001-01-01&to=9999-12-31', 'to', '366'],
    ['?from=2026-01-02&to=2026-01-01', 'to', 'exchange'],
    ['?from=yesterday', 'from', 'date'],
    ['?currency=BTC', 'currency', 'Valid'],
    ['?day=2026-01-01', 'day', 'Known'],
  ])('422: %s', async (query, field, hint) => {
    const { status, body } = await volume(fixture.merchant(), query);
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
    expect(`${body.hint} ${JSON.stringify(body.errors)}`).toContain(hint);
  });

  it('reads a year of many invoices from one index of each table alone', async () => {
    const shop = fixture.merchant();
    const { id } = await shop.invoice();
    const start = new Date('2027-01-01T00:00:00.000Z').getTime();
    const heads = Array.from({ length: 365 }, (_, day) => lowestId(start + day * DAY).slice(0, 14));
    await fixture.rows(
      `insert into invoices select copy.* from invoices i,
         unnest($2::text[]) with ordinality as day (head, nth), generate_series(1, 50) as n,
         jsonb_populate_record(i, jsonb_build_object('id', day.head || lpad(n::text, 26, '0'))) as copy
       where i.id = $1`,
      [id, heads],
    );
    await fixture.rows('vacuum analyze invoices');
    const { data } = (await volume(shop, '?from=2027-01-01&to=2027-12-31')).body;
    expect(data.map((day: { created: number }) => day.created)).toEqual(Array(365).fill(50));
    const plan = await fixture.rows(
      `explain (analyze, format json) select currency, count(*), sum(amount_fiat) filter (where status = 'paid')
       from invoices where account_id = $1 and id >= $2 and id < $3 group by currency`,
      [shop.account, `${heads[10]}`, `${heads[11]}`],
    );
    const text = JSON.stringify(plan);
    expect(text).toContain('Index Only Scan');
    expect(text).toContain('invoices_of_account_with_prices');
  });
});
