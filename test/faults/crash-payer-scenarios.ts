import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { patient } from '@quittance/testkit/patience';
import type { CrashFixture } from './crash-fixture.ts';
import {
  type CrashAsset,
  expectInvoice,
  expectPaid,
  expectPublished,
  expectTold,
  type Scenario,
  usual,
} from './crash-scenarios.ts';

/** A payer sends a form again until there is a page that shows what became of it. */
const INSIST_FOR_MS = 90_000;
const SEND_AGAIN_AFTER_MS = 300;

/**
 * Sends a form as a browser does, again and again until it is carried out.
 * @returns the address of the page that it leads to
 */
export async function submit(url: string, form: Record<string, string> = {}): Promise<string> {
  const deadline = Date.now() + patient(INSIST_FOR_MS);
  for (;;) {
    const body = new URLSearchParams(form);
    const answer = await fetch(url, { method: 'POST', redirect: 'manual', body }).catch(() => undefined);
    await answer?.text().catch(() => undefined);
    if (answer?.status === 303) return new URL(answer.headers.get('location') ?? '', url).href;
    if (Date.now() > deadline) throw new Error(`a form was not carried out: ${answer?.status}`);
    await sleep(SEND_AGAIN_AFTER_MS);
  }
}

/** Pays what the page of an invoice asks for. */
async function payPage(fixture: CrashFixture, asset: CrashAsset, page: string): Promise<string> {
  const id = page.split('/').at(-1) ?? '';
  const { body } = await fixture.shop.get(`/api/invoices/${id}`);
  expect(body.asset?.symbol).toBe(asset);
  await fixture.customerOf(asset).pay(asset, body.address.address, body.amount);
  return id;
}

/** An invoice whose payer chooses the asset, and pays it. Every choice that was not answered is sent again. */
export const chosen =
  (asset: CrashAsset): Scenario =>
  async (fixture) => {
    const { dollars } = usual[asset];
    const { status, body } = await fixture.insist('/api/invoices', { assets: 'all', amount: dollars });
    expect([status, body.data.asset]).toEqual([201, null]);
    let page = '';
    // The page of an invoice is also shown to a payer whose choice was lost.
    do page = await submit(`${body.data.url}/choose`, { asset });
    while ((await fixture.shop.get(`/api/invoices/${body.data.id}`)).body?.asset === null);
    const id = await payPage(fixture, asset, page);
    expect(id).toBe(body.data.id);
    return async () => {
      await expectInvoice(fixture, id, { status: 'paid' });
      expectTold(fixture, 'invoice.paid', id);
      await expectPublished(fixture, id, [
        'deposit.settled',
        'invoice.asset_chosen',
        'invoice.confirmed',
        'invoice.created',
        'invoice.paid',
      ]);
    };
  };

/**
 * A payer pays a link. A form that was not answered is sent again and may begin a second payment, which has another
 * address and is never paid.
 */
export const followed =
  (asset: CrashAsset): Scenario =>
  async (fixture) => {
    const { db } = fixture.quittance;
    const description = `Tea ${randomUUID()}`;
    const wanted = { asset, amount: usual[asset].dollars, description };
    const { status, body } = await fixture.insist('/api/payment-links', wanted);
    expect(status).toBe(201);
    const id = await payPage(fixture, asset, await submit(body.data.url));
    return async () => {
      await expectPaid(fixture, id);
      const links = 'select id from invoices.payment_links where description = $1';
      expect(await db.rows(links, [description])).toEqual([{ id: body.data.id }]);
      const ofLink = `select count(*)::int as invoices, count(distinct address)::int as addresses,
          count(*) filter (where paid_amount > 0)::int as paid
        from invoices.invoices where payment_link_id = $1`;
      const made = await db.one<{ invoices: number }>(ofLink, [body.data.id]);
      expect(made).toEqual({ invoices: made.invoices, addresses: made.invoices, paid: 1 });
    };
  };
