import { afterEach, describe, expect, it } from '@jest/globals';
import type { Db } from '@quittance/shared/db';
import { UnknownOutcome } from '@quittance/shared/db-errors';
import { openFixture } from './fixture.ts';
import { invoiceOf, linksOf } from './link-fixture.ts';

const { fixture } = await openFixture();
const { open, choose, page, aLink } = linksOf(fixture);
const { ports } = fixture;
const { db } = ports;

afterEach(() => {
  ports.db = db;
});

/** The connection breaks when the next COMMIT was sent: Postgres has carried it out, or never saw it. */
function breakNextCommit(isCarriedOut: boolean): void {
  const broken: Db['transaction'] = async (work) => {
    ports.db = db;
    const lost = new Error('Connection terminated unexpectedly');
    if (isCarriedOut) await db.transaction(work);
    else {
      await db
        .transaction(async (trx) => {
          await work(trx);
          throw lost;
        })
        .catch((error: unknown) => {
          if (error !== lost) throw error;
        });
    }
    throw new UnknownOutcome(lost);
  };
  ports.db = { ...db, transaction: broken };
}

const unknownAnswer = {
  status: 500,
  body: { code: 'internal_error', hint: expect.stringContaining('the same Idempotency-Key') },
};

/** The hidden field of a form. */
const attemptIn = (html: string): string => /name="attempt" value="([\w-]{22})"/.exec(html)?.[1] ?? '';

describe.each([
  ['was carried out', true],
  ['never arrived', false],
])('when the answer to a commit is lost that %s', (_, isCarriedOut) => {
  it.each([[{ asset: 'ETH' }], [{ assets: 'all' }]])(
    'a payment of a link is answered as unknown, and its form creates one invoice: %j',
    async (offer) => {
      const { shop, link } = await aLink({ ...offer, max_open: 1 });
      const form = `attempt=${attemptIn((await page(`/link/${link.id}`)).body)}&amount=25`;
      breakNextCommit(isCarriedOut);
      const unknown = await open(link.id, form);
      expect(unknown.status).toBe(500);
      expect(unknown.body).toContain('It is not known whether the payment was begun. Please press Pay again');
      // The form that is shown then is the same one.
      expect(`attempt=${attemptIn(unknown.body)}&amount=25`).toBe(form);
      expect(unknown.body).toContain('value="25"');
      expect((await shop.get('/api/invoices')).body.meta.total).toBe(isCarriedOut ? 1 : 0);

      const id = invoiceOf(await open(link.id, form));
      expect(invoiceOf(await open(link.id, form))).toBe(id);
      expect((await shop.get('/api/invoices')).body).toMatchObject({ data: [{ id }], meta: { total: 1 } });
      expect((await fixture.told(id)).map(({ kind }) => kind)).toEqual(['invoice.created']);
    },
  );

  it('a link and an invoice that a merchant creates are answered 500, which says what to do', async () => {
    const shop = fixture.merchant();
    for (const [path, body] of [
      ['/api/payment-links', { description: 'A cup', amount: 25, asset: 'ETH' }],
      ['/api/invoices', { amount: 25, assets: 'all' }],
    ] as const) {
      breakNextCommit(isCarriedOut);
      expect(await shop.post(path, body)).toMatchObject(unknownAnswer);
      expect((await shop.get(path)).body.meta.total).toBe(isCarriedOut ? 1 : 0);
    }
  });

  it('a choice is answered as unknown, and the payment page shows it', async () => {
    const shop = fixture.merchant();
    const { id } = (await shop.post('/api/invoices', { amount: 25, assets: 'all' })).body.data;
    breakNextCommit(isCarriedOut);
    const unknown = await choose(id, 'asset=ETH');
    expect(unknown.status).toBe(500);
    expect(unknown.body).toContain('It is not known whether your choice was stored.');
    expect(unknown.body).toContain(`href="/pay/${id}"`);
    const text = isCarriedOut ? 'Send 0.01 ETH' : 'name="asset" value="USDC_ERC20"';
    expect((await page(`/pay/${id}`)).body).toContain(text);
    // Another choice then: what was stored stays, and else this one counts.
    expect((await choose(id, 'asset=USDC_ERC20')).status).toBe(303);
    const symbol = isCarriedOut ? 'ETH' : 'USDC_ERC20';
    expect(await shop.read(id)).toMatchObject({ asset: { symbol } });
    const kinds = (await fixture.told(id)).map(({ kind }) => kind);
    expect(kinds).toEqual(['invoice.created', 'invoice.asset_chosen']);
  });
});

it('an invoice of one asset with a key is answered 500 when the answer to its statement is lost, and then as it is', async () => {
  const shop = fixture.merchant();
  const create = () =>
    shop.post('/api/invoices', { amount: 25, asset: 'ETH' }, { 'idempotency-key': 'lost-answer' });
  const lost = new Error('Connection terminated unexpectedly');
  const rows = async (sql: Parameters<Db['rows']>[0], values?: readonly unknown[]) => {
    const found = await db.rows(sql, values);
    if (!/\binsert into\b/.test(typeof sql === 'string' ? sql : sql.text)) return found;
    ports.db = db;
    throw new UnknownOutcome(lost);
  };
  ports.db = { ...db, rows: rows as Db['rows'] };
  expect(await create()).toMatchObject(unknownAnswer);
  expect((await shop.get('/api/invoices')).body.meta.total).toBe(1);
  const again = await create();
  expect(again.status).toBe(201);
  expect((await shop.get('/api/invoices')).body).toMatchObject({ data: [{ id: again.body.data.id }] });
});

describe('the form of a link', () => {
  it('creates one invoice when it is sent several times at the same moment', async () => {
    for (const offer of [{ asset: 'ETH' }, { assets: 'all' }]) {
      const { shop, link } = await aLink({ amount: 25, max_open: 1, ...offer });
      const form = `attempt=${attemptIn((await page(`/link/${link.id}`)).body)}`;
      const sent = await Promise.all(Array.from({ length: 8 }, () => open(link.id, form)));
      expect(new Set(sent.map(invoiceOf)).size).toBe(1);
      expect((await shop.get('/api/invoices')).body.meta.total).toBe(1);
    }
  });

  it('leads to its invoice when the link has ended or is full meanwhile', async () => {
    const { shop, link } = await aLink({ amount: 25, asset: 'ETH', max_open: 1 });
    const form = `attempt=${attemptIn((await page(`/link/${link.id}`)).body)}`;
    const id = invoiceOf(await open(link.id, form));
    expect(invoiceOf(await open(link.id, form))).toBe(id);
    await shop.post(`/api/payment-links/${link.id}/deactivate`, {});
    expect(invoiceOf(await open(link.id, form))).toBe(id);
  });

  it('begins another payment with another amount only when it is pressed again', async () => {
    const { shop, link } = await aLink({ asset: 'ETH' });
    const attempt = attemptIn((await page(`/link/${link.id}`)).body);
    const first = invoiceOf(await open(link.id, `attempt=${attempt}&amount=25`));
    const other = await open(link.id, `attempt=${attempt}&amount=30`);
    expect(other).toMatchObject({ status: 422, body: expect.stringContaining('of another amount') });
    expect((await shop.get('/api/invoices')).body.data).toMatchObject([{ id: first }]);
    const next = attemptIn(other.body);
    expect(next).not.toBe(attempt);
    fixture.pass(1);
    const second = invoiceOf(await open(link.id, `attempt=${next}&amount=30`));
    expect((await shop.get('/api/invoices')).body.data).toMatchObject([{ id: second }, { id: first }]);
  });
});
